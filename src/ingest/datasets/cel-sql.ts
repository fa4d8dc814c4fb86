/**
 * CEL of rules and computed fields, as DuckDB SQL. Parsed by cel-js, checked against the fields' types, translated node by
 * node; nothing is ever evaluated as code.
 *
 * Values: whole numbers have 64 bits. Decimals (decimal, money and percent fields, literals with a point) are exact, with 9
 * digits after the point: 0.1 + 0.2 == 0.3. Products and quotients are rounded there, halves away from zero; whole numbers
 * and decimals mix. Dates and timestamps are CEL timestamps in UTC. An empty cell, and a field that the file does not have, is
 * null.
 * Failure: an operation on null (other than == and !=), a division by zero, a number that is too large (from 10^19 on in products
 * and quotients of decimals, 10^29 in sums) or has more than 9 digits after the point, a text that is no number in int() and
 * double(). As in CEL a failure spreads, except that `true ||`
 * and `false &&` on either side settle the matter. In SQL a failure is NULL, whose logic is the same.
 */

import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { textOfThrown } from '../../kernel/errors.ts'
import type { Field } from './dataset.ts'
import { text } from './sql-text.ts'

const MAX_CEL_LENGTH = 2_000
/** Some operations name an operand twice. */
const MAX_SQL_LENGTH = 60_000
const language = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 300, maxDepth: 40 },
})

export type CelType = 'int' | 'decimal' | 'string' | 'bool' | 'timestamp' | 'null' | 'list'

/** A field in an expression: SQL of its typed value (see `typedValue`), NULL where it is null or fails. */
export interface CelField {
  type: CelType
  sql: string
  /** SQL that is true where it is null, and never NULL. */
  isNull: string
  canFail: boolean
}

interface CelSql {
  type: CelType
  /** NULL where it is null or fails. */
  value: string
  isNull: string
  /** Can it be NULL without being null? */
  canFail: boolean
}

/** What is wrong with an expression, and where. */
class CelProblem extends Error {}

const OPERATORS = '+ - * / % == != < <= > >= in && || ! ?:'
const FUNCTIONS =
  'size, startsWith, endsWith, contains, matches, lowerAscii, upperAscii, int, double, string, timestamp("…"), getFullYear, getMonth, getDate, getDayOfMonth, getDayOfWeek'
const AVAILABLE = `what can be used: fields, literals, null, lists after \`in\`, ${OPERATORS}, ${FUNCTIONS}`

export function celTypeOf({ type }: Pick<Field, 'type'>): CelType | undefined {
  switch (type) {
    case 'integer':
      return 'int'
    case 'decimal':
    case 'money':
    case 'percent':
      return 'decimal'
    case 'boolean':
      return 'bool'
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return 'timestamp'
    case 'array':
      return 'list'
    case 'json':
      return undefined
    default:
      return 'string'
  }
}

const DECIMAL = 'DECIMAL(38, 9)'

/** The text of a field's value as the value that an expression computes with. A list is one already. */
export function typedValue(type: CelType, value: string): string {
  switch (type) {
    case 'int':
      return `TRY_CAST(${value} AS BIGINT)`
    case 'decimal':
      return `CASE WHEN strlen(rtrim(split_part(${value}, '.', 2), '0')) > 9 THEN NULL ELSE TRY_CAST(${value} AS ${DECIMAL}) END`
    case 'bool':
      return `${value} = 'true'`
    case 'timestamp':
      return `epoch_us(TRY_CAST(replace(${value}, '+00:00', '') AS TIMESTAMP))`
    default:
      return value
  }
}

/** The other way round: what a field of this type holds. */
export function valueText(type: CelType, value: string, field: Pick<Field, 'type'>): string {
  switch (type) {
    case 'int':
      return `CAST(${value} AS VARCHAR)`
    case 'decimal':
      return decimalText(value)
    case 'bool':
      return `CASE WHEN ${value} THEN 'true' WHEN NOT ${value} THEN 'false' END`
    case 'timestamp': {
      const moment = `replace(CAST(make_timestamp(${value}) AS VARCHAR), ' ', 'T')`
      if (field.type === 'date') return `left(${moment}, 10)`
      return field.type === 'timestamptz' ? `${moment} || '+00:00'` : moment
    }
    default:
      return value
  }
}

function decimalText(value: string): string {
  return `rtrim(rtrim(CAST(${value} AS VARCHAR), '0'), '.')`
}

const parsed = new Map<string, ASTNode>()
const MAX_PARSED = 500

function parse(expression: string): ASTNode {
  const known = parsed.get(expression)
  if (known) return known
  if (expression.length > MAX_CEL_LENGTH)
    throw new CelProblem(`it is longer than ${MAX_CEL_LENGTH} characters`)
  let ast: ASTNode
  try {
    ast = language.parse(expression).ast
  } catch (error) {
    const at = error instanceof ParseError && error.node ? ` (at character ${error.node.pos + 1})` : ''
    throw new CelProblem(`${textOfThrown(error).split('\n')[0]}${at}`)
  }
  if (parsed.size >= MAX_PARSED) parsed.delete(parsed.keys().next().value as string)
  parsed.set(expression, ast)
  return ast
}

/** The names that an expression reads; none of one that cannot be parsed, which is said elsewhere. */
export function fieldsRead(expression: string): string[] {
  try {
    const names = new Set<string>()
    visit(parse(expression), (node) => {
      if (node.op === 'id') names.add(node.args)
    })
    return [...names]
  } catch (error) {
    if (error instanceof CelProblem) return []
    throw error
  }
}

/** Patterns of matches(): RE2, which only DuckDB can tell. */
export function patternsIn(expression: string): string[] {
  const patterns: string[] = []
  visit(parse(expression), (node) => {
    const pattern = node.op === 'rcall' && node.args[0] === 'matches' ? node.args[2][0] : undefined
    if (pattern?.op === 'value' && typeof pattern.args === 'string') patterns.push(pattern.args)
  })
  return patterns
}

function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node)
  for (const child of childrenOf(node)) visit(child, see)
}

function childrenOf(node: ASTNode): ASTNode[] {
  const isNode = (part: unknown): part is ASTNode =>
    typeof part === 'object' && part !== null && 'op' in part && 'args' in part
  const found = (part: unknown): ASTNode[] =>
    isNode(part) ? [part] : Array.isArray(part) ? part.flatMap(found) : []
  return node.op === 'value' ? [] : found(node.args)
}

/** SQL of an expression. Throws CelProblem with the place in the text. */
export function compileCel(expression: string, field: (name: string) => CelField | undefined): CelSql {
  const { value, ...rest } = translate(parse(expression))
  if (value.length > MAX_SQL_LENGTH) throw new CelProblem('it is too long; make two rules of it')
  return { value, ...rest }

  function translate(node: ASTNode): CelSql {
    const made = translateNode(node)
    if (made.value.length > MAX_SQL_LENGTH) throw refused(node, 'it is too long; make two rules of it')
    return made
  }

  function translateNode(node: ASTNode): CelSql {
    switch (node.op) {
      case 'value':
        return literal(node)
      case 'id':
        return fieldValue(node)
      case '||':
      case '&&': {
        const [left, right] = node.args.map((one) => expect(one, 'bool'))
        return result('bool', `(${left!.value} ${node.op === '||' ? 'OR' : 'AND'} ${right!.value})`)
      }
      case '!_':
        return result('bool', `(NOT ${expect(node.args, 'bool').value})`)
      case '-_': {
        const operand = translate(node.args)
        if (operand.type !== 'int' && operand.type !== 'decimal') throw mismatch(node, '-', operand.type)
        return result(operand.type, `TRY(-${operand.value})`)
      }
      case '?:':
        return ternary(node)
      case '==':
        return result('bool', equality(node, ...both(node.args)))
      case '!=':
        return result('bool', `(NOT ${equality(node, ...both(node.args))})`)
      case '<':
      case '<=':
      case '>':
      case '>=':
        return order(node)
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return arithmetic(node)
      case 'in':
        return membership(node)
      case 'call':
        return call(node, node.args[0], node.args[1])
      case 'rcall':
        return call(node, node.args[0], [node.args[1], ...node.args[2]], true)
      default:
        throw refused(node, `${sourceText(node)} cannot be used here; ${AVAILABLE}`)
    }
  }

  function both([left, right]: [ASTNode, ASTNode]): [CelSql, CelSql] {
    return [translate(left), translate(right)]
  }

  function expect(node: ASTNode, type: CelType): CelSql {
    const made = translate(node)
    if (made.type === type) return made
    throw refused(node, `${sourceText(node)} is ${nameOf(made.type)}, and ${nameOf(type)} is expected`)
  }

  function literal(node: ASTNode & { op: 'value' }): CelSql {
    const value = node.args
    if (value === null) return { type: 'null', value: 'NULL', isNull: 'true', canFail: false }
    if (typeof value === 'boolean') return certain('bool', String(value))
    if (typeof value === 'string') {
      if (value.includes('\0')) throw refused(node, 'a text with a NUL character cannot be used')
      return certain('string', text(value))
    }
    if (typeof value === 'bigint') {
      if (value > 9223372036854775807n || value < -9223372036854775808n)
        throw refused(node, `${value} does not fit into 64 bits`)
      return certain('int', `CAST(${value} AS BIGINT)`)
    }
    if (typeof value === 'number') return certain('decimal', `CAST('${decimalLiteral(node)}' AS ${DECIMAL})`)
    throw refused(node, `${sourceText(node)} cannot be used here; ${AVAILABLE}`)
  }

  /** As it is written: as a double it would be another number. */
  function decimalLiteral(node: ASTNode): string {
    const written = sourceText(node)
    if (/^[0-9]{1,29}(?:\.[0-9]{1,9})?$/.test(written)) return written
    throw refused(node, `${written} is no decimal with up to 29 digits before the point and 9 after it`)
  }

  function fieldValue(node: ASTNode & { op: 'id' }): CelSql {
    const found = field(node.args)
    if (!found) throw refused(node, `there is no field ${node.args} that can be used`)
    return { type: found.type, value: found.sql, isNull: found.isNull, canFail: found.canFail }
  }

  function ternary(node: ASTNode & { op: '?:' }): CelSql {
    const [condition, yes, no] = node.args
    const when = expect(condition, 'bool').value
    const [first, second] = alike(node, translate(yes), translate(no))
    const choose = (one: string, other: string) =>
      `CASE WHEN ${when} THEN ${one} WHEN NOT ${when} THEN ${other} END`
    return {
      type: first.type,
      value: `(${choose(first.value, second.value)})`,
      isNull:
        first.isNull === 'false' && second.isNull === 'false'
          ? 'false'
          : `coalesce(${choose(first.isNull, second.isNull)}, false)`,
      canFail: true,
    }
  }

  /** Null and a value are of one kind, and so are both kinds of numbers. */
  function alike(node: ASTNode, left: CelSql, right: CelSql): [CelSql, CelSql] {
    if (left.type === right.type) return [left, right]
    if (left.type === 'null') return [{ ...left, type: right.type }, right]
    if (right.type === 'null') return [left, { ...right, type: left.type }]
    if (isNumber(left) && isNumber(right)) return [asDecimal(left), asDecimal(right)]
    throw refused(
      node,
      `${sourceText(node)}: ${nameOf(left.type)} and ${nameOf(right.type)} do not go together; convert one with int(), double() or string()`,
    )
  }

  function equality(node: ASTNode, one: CelSql, other: CelSql): string {
    const [left, right] = alike(node, one, other)
    if (left.type === 'list') throw mismatch(node, '==', 'list')
    const fails = [left, right].flatMap(failure)
    const same = `${left.value} IS NOT DISTINCT FROM ${right.value}`
    return fails.length === 0 ? `(${same})` : `(CASE WHEN ${fails.join(' OR ')} THEN NULL ELSE ${same} END)`
  }

  function failure({ value, isNull, canFail }: CelSql): string[] {
    if (!canFail) return []
    return [isNull === 'false' ? `${value} IS NULL` : `(${value} IS NULL AND NOT ${isNull})`]
  }

  function order(node: ASTNode & { op: '<' | '<=' | '>' | '>=' }): CelSql {
    const [left, right] = alike(node, ...both(node.args))
    if (!['int', 'decimal', 'string', 'timestamp'].includes(left.type))
      throw mismatch(node, node.op, left.type)
    return result('bool', `(${left.value} ${node.op} ${right.value})`)
  }

  function arithmetic(node: ASTNode & { op: '+' | '-' | '*' | '/' | '%' }): CelSql {
    const [left, right] = alike(node, ...both(node.args))
    if (left.type === 'string' && node.op === '+')
      return result('string', `(${left.value} || ${right.value})`)
    if (left.type === 'int') {
      const sign = node.op === '/' ? '//' : node.op
      return result('int', `TRY(${left.value} ${sign} ${right.value})`)
    }
    if (left.type !== 'decimal' || node.op === '%') throw mismatch(node, node.op, left.type)
    if (node.op === '*') return result('decimal', `TRY(CAST(${left.value} * ${right.value} AS ${DECIMAL}))`)
    if (node.op === '/') return result('decimal', quotient(left.value, right.value))
    return result('decimal', `TRY(CAST(${left.value} ${node.op} ${right.value} AS ${DECIMAL}))`)
  }

  function membership(node: ASTNode & { op: 'in' }): CelSql {
    const [item, list] = node.args
    const value = translate(item)
    if (list.op === 'list') {
      const equal = list.args.map((one) => equality(node, value, translate(one)))
      if (equal.length > 0) return result('bool', `(${equal.join(' OR ')})`)
      const fails = failure(value)
      return result(
        'bool',
        fails.length === 0 ? 'false' : `(CASE WHEN ${fails.join()} THEN NULL ELSE false END)`,
      )
    }
    const items = translate(list)
    if (items.type !== 'list')
      throw refused(list, `${sourceText(list)} is ${nameOf(items.type)}, and no list`)
    if (value.type !== 'string') throw refused(item, 'the items of a list are texts here')
    return result('bool', `list_contains(${items.value}, ${value.value})`)
  }

  function call(node: ASTNode, name: string, given: ASTNode[], isMethod = false): CelSql {
    const [first, second] = given
    const arity = (count: number) => {
      if (given.length !== count)
        throw refused(
          node,
          `${name} takes ${count - (isMethod ? 1 : 0)} argument${count - (isMethod ? 1 : 0) === 1 ? '' : 's'}`,
        )
    }
    const textFunction = (sql: (value: string) => string, type: CelType = 'string') => {
      arity(1)
      return result(type, sql(expect(first!, 'string').value))
    }
    const comparison = (sql: string) => {
      arity(2)
      return result('bool', `${sql}(${expect(first!, 'string').value}, ${expect(second!, 'string').value})`)
    }
    const partOfMoment = (sql: (moment: string) => string) => {
      arity(1)
      return result('int', `CAST(${sql(`make_timestamp(${expect(first!, 'timestamp').value})`)} AS BIGINT)`)
    }
    switch (`${isMethod ? '.' : ''}${name}`) {
      case 'size':
      case '.size': {
        arity(1)
        const value = translate(first!)
        if (value.type === 'list') return result('int', `CAST(len(${value.value}) AS BIGINT)`)
        return textFunction((one) => `CAST(length(${one}) AS BIGINT)`, 'int')
      }
      case '.startsWith':
        return comparison('starts_with')
      case '.endsWith':
        return comparison('ends_with')
      case '.contains':
        return comparison('contains')
      case '.matches':
        arity(2)
        if (second!.op !== 'value' || typeof second!.args !== 'string')
          throw refused(second!, 'the pattern of matches() is a text in quotes')
        return result('bool', `regexp_matches(${expect(first!, 'string').value}, ${text(second!.args)})`)
      case '.lowerAscii':
        return textFunction((value) => `lower(${value})`)
      case '.upperAscii':
        return textFunction((value) => `upper(${value})`)
      case 'int':
        arity(1)
        return toInt(node, translate(first!))
      case 'double':
        arity(1)
        return toDecimal(node, translate(first!))
      case 'string':
        arity(1)
        return toText(node, translate(first!))
      case 'timestamp':
        arity(1)
        return certain('timestamp', moment(node, first!))
      case '.getFullYear':
        return partOfMoment((value) => `year(${value})`)
      case '.getMonth':
        return partOfMoment((value) => `month(${value}) - 1`)
      case '.getDate':
        return partOfMoment((value) => `day(${value})`)
      case '.getDayOfMonth':
        return partOfMoment((value) => `day(${value}) - 1`)
      case '.getDayOfWeek':
        return partOfMoment((value) => `dayofweek(${value})`)
      default:
        throw refused(node, `there is no function ${name} here; ${AVAILABLE}`)
    }
  }

  function toInt(node: ASTNode, value: CelSql): CelSql {
    if (value.type === 'int') return required(value)
    if (value.type === 'decimal') return result('int', `TRY(CAST(trunc(${value.value}) AS BIGINT))`)
    if (value.type !== 'string') throw mismatch(node, 'int', value.type)
    return result('int', `TRY_CAST(regexp_extract(${value.value}, '^-?[0-9]{1,19}$') AS BIGINT)`)
  }

  function toDecimal(node: ASTNode, value: CelSql): CelSql {
    if (isNumber(value)) return required(asDecimal(value))
    if (value.type !== 'string') throw mismatch(node, 'double', value.type)
    const number = `regexp_extract(${value.value}, '^-?[0-9]{1,29}(?:\\.[0-9]{1,9})?$')`
    return result('decimal', `TRY_CAST(${number} AS ${DECIMAL})`)
  }

  function toText(node: ASTNode, value: CelSql): CelSql {
    if (value.type === 'string') return required(value)
    if (value.type === 'int' || value.type === 'bool')
      return result('string', `CAST(${value.value} AS VARCHAR)`)
    if (value.type === 'decimal') return result('string', decimalText(value.value))
    throw mismatch(node, 'string', value.type)
  }

  function moment(node: ASTNode, given: ASTNode): string {
    const written = given.op === 'value' && typeof given.args === 'string' ? given.args : ''
    const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[-+]\d\d:\d\d)$/.test(written)
    const milliseconds = isWhole ? Date.parse(written) : Number.NaN
    if (Number.isNaN(milliseconds))
      throw refused(node, 'timestamp() takes a text such as "2026-01-31T00:00:00Z"')
    return `CAST(${milliseconds}000 AS BIGINT)`
  }
}

/** Of a function that takes no null: where the value is null, it fails. */
function required(value: CelSql): CelSql {
  return { ...value, isNull: 'false', canFail: true }
}

function result(type: CelType, value: string): CelSql {
  return { type, value, isNull: 'false', canFail: true }
}

function certain(type: CelType, value: string): CelSql {
  return { type, value, isNull: 'false', canFail: false }
}

function isNumber({ type }: CelSql): boolean {
  return type === 'int' || type === 'decimal'
}

function asDecimal(value: CelSql): CelSql {
  if (value.type === 'decimal') return value
  return { ...value, type: 'decimal', value: `CAST(${value.value} AS ${DECIMAL})` }
}

/** Both as counts of 10^-9, so that it is divided in whole numbers; rounded, halves away from zero. */
function quotient(left: string, right: string): string {
  const count = (value: string) => `CAST(${value} * 1000000000 AS HUGEINT)`
  const rounded = '(2 * abs(e.a) * 1000000000 + abs(e.b)) // (2 * abs(e.b))'
  const signed = `CAST(sign(e.a) * sign(e.b) AS HUGEINT) * (${rounded})`
  const divided = `list_transform([{a: ${count(left)}, b: ${count(right)}}], lambda e: CASE WHEN e.b = 0 THEN NULL ELSE ${signed} END)[1]`
  return `TRY(CAST(CAST(${divided} AS DECIMAL(38, 0)) * 0.000000001 AS ${DECIMAL}))`
}

const NAMES: Record<CelType, string> = {
  int: 'a whole number',
  decimal: 'a decimal',
  string: 'a text',
  bool: 'true or false',
  timestamp: 'a date or timestamp',
  null: 'null',
  list: 'a list',
}

export function nameOf(type: CelType): string {
  return NAMES[type]
}

function sourceText({ input, start, end }: ASTNode): string {
  return input.slice(start, end)
}

function refused(node: ASTNode, what: string): CelProblem {
  return new CelProblem(`${what} (at character ${node.start + 1})`)
}

function mismatch(node: ASTNode, operator: string, type: CelType): CelProblem {
  return refused(node, `${operator} cannot be used on ${nameOf(type)}`)
}

/** What an expression gives and reads, checked against the fields alone; or what is wrong with it. */
export function checkCel(
  expression: string,
  fields: Readonly<Record<string, Field>>,
): { type: CelType; problem?: undefined } | { problem: string } {
  try {
    const { type } = compileCel(expression, (name) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const celType = field && celTypeOf(field)
      return celType && { type: celType, sql: 'v', isNull: 'n', canFail: celType === 'decimal' }
    })
    return { type }
  } catch (error) {
    if (!(error instanceof CelProblem)) throw error
    const unknown = fieldsRead(expression).filter((name) => !Object.hasOwn(fields, name))
    const hint = unknown.length > 0 ? `; there are the fields ${Object.keys(fields).join(', ')}` : ''
    return { problem: `${error.message}${hint}` }
  }
}
