/** CEL expressions, compiled once per text. They have no clock and no randomness: a replay gives the same results. */
import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  Optional,
  ParseError,
} from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import { textOfThrown } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/json.ts'
import {
  compilePattern,
  FORMAT_STEPS,
  isOverBudget,
  meterEvaluations,
  meterNode,
  overBudgetError,
  spend,
  withinBudget,
} from './budget.ts'

export type Scope = { readonly [name: string]: Json | undefined }

export interface Compiled {
  readonly text: string
  readonly ast: ASTNode
  /** What it reads from the scope. */
  readonly paths: readonly Path[]
  readonly compute: (scope: Scope) => Json
}

/** More than the expressions of all playbooks that one engine drives at a time; the oldest leave first. */
const MAX_CACHED = 20_000
const MAX_EXPRESSION_LENGTH = 20_000
const cache = new Map<string, Compiled>()

const language = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 5_000, maxDepth: 100 },
})
mixIntsWithDoubles()
meterEvaluations(language)

export function compile(text: string): Compiled {
  const known = cache.get(text)
  if (known !== undefined) return known
  const compiled = compileUncached(text)
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value as string)
  cache.set(text, compiled)
  return compiled
}

function compileUncached(text: string): Compiled {
  if (text.length > MAX_EXPRESSION_LENGTH)
    throw new ExpressionError(text, `is longer than ${MAX_EXPRESSION_LENGTH} characters`)
  const run = parseChecked(text)
  refuseBadPatterns(text, run.ast)
  meterNode(run.ast)
  const path = purePath(run.ast)
  if (path !== undefined) {
    return { text, ast: run.ast, paths: [path], compute: (scope) => readPath(text, path, scope) }
  }
  const paths = pathsOf(run.ast)
  const project = projection(paths)
  const compute = (scope: Scope): Json => withinBudget(() => computeNow(scope))
  const computeNow = (scope: Scope): Json => {
    let isRead = false
    try {
      const context = project(scope)
      isRead = true
      return fromCel(run(context))
    } catch (error) {
      // A scope may have getters, and what those throw is not about the expression.
      throw isRead || error instanceof RangeError || isOverBudget(error)
        ? toExpressionError(text, error)
        : error
    }
  }
  return { text, ast: run.ast, paths, compute }
}

function parseChecked(text: string) {
  if (text.trim() === '') throw new ExpressionError(text, 'there is no expression')
  try {
    const run = language.parse(text)
    const checked = run.check()
    if (!checked.valid) throw checked.error
    return run
  } catch (error) {
    throw toExpressionError(text, error)
  }
}

/** A path gives the value as it is, however large: nothing is converted. */
function readPath(text: string, path: Path, scope: Scope): Json {
  let value = rootOf(scope, path[0] as string)
  if (value === undefined) throw new ExpressionError(text, `there is no \`${path[0]}\` here`, { offset: 0 })
  for (let depth = 1; depth < path.length; depth++) {
    value = childOf(value, path[depth] as string | number)
    if (value === undefined) throw new ExpressionError(text, missingText(path, depth))
  }
  return value
}

function childOf(value: Json, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined
  return typeof key === 'string' && Object.hasOwn(value, key)
    ? (value as { readonly [key: string]: Json })[key]
    : undefined
}

function missingText(path: Path, depth: number): string {
  if (path[0] === 'steps' && depth === 1) return `the step ${path[1]} has not ended`
  return `there is no \`${path[depth]}\` in \`${path.slice(0, depth).join('.')}\``
}

/** What the language always knows, and is nothing until a step has ended. */
const NULL_UNTIL_SET: ReadonlySet<string> = new Set(['result', 'error', 'fanin', 'prev'])

function rootOf(scope: Scope, name: string): Json | undefined {
  const value = Object.hasOwn(scope, name) ? scope[name] : undefined
  return value === undefined && NULL_UNTIL_SET.has(name) ? null : value
}

interface Branch {
  whole: boolean
  readonly children: Map<string, Branch>
}

/** Only what the expression reads is converted: a condition on one field of a large result costs that field. */
function projection(paths: readonly Path[]): (scope: Scope) => Record<string, unknown> {
  const tree: Branch = { whole: false, children: new Map() }
  for (const path of paths) grow(tree, path)
  const roots = [...tree.children]
  return (scope) => {
    const context: Record<string, unknown> = Object.create(null)
    for (const [name, branch] of roots) {
      const value = rootOf(scope, name)
      if (value !== undefined) context[name] = projectBranch(value, branch)
    }
    return context
  }
}

function grow(tree: Branch, path: Path): void {
  let branch = tree
  for (const key of path) {
    // An element of a list: the list as a whole, whose size may be asked for.
    if (typeof key === 'number') break
    // toCel() knows what to do with these.
    if (key === 'constructor' || key === '__proto__') break
    const child = branch.children.get(key) ?? { whole: false, children: new Map() }
    branch.children.set(key, child)
    branch = child
  }
  branch.whole = true
}

function projectBranch(value: Json, branch: Branch): unknown {
  if (branch.whole || typeof value !== 'object' || value === null || Array.isArray(value)) return toCel(value)
  const part: Record<string, unknown> = Object.create(null)
  for (const [key, below] of branch.children) {
    const child = childOf(value, key)
    if (child !== undefined) part[key] = projectBranch(child, below)
  }
  return part
}

/** Whether a JSON number is whole depends on the data: 2.5 * 2 must not fail where 3 * 2 does not. */
function mixIntsWithDoubles(): void {
  const exact = (value: number | bigint): number => {
    const number = Number(value)
    if (!Number.isInteger(number) || Number.isSafeInteger(number)) return number
    throw new ValueError(`${value} is beyond 2^53, where JSON numbers are no longer exact`)
  }
  const operators: Record<string, (left: number, right: number) => number> = {
    '+': (left, right) => left + right,
    '-': (left, right) => left - right,
    '*': (left, right) => left * right,
    '/': (left, right) => left / right,
  }
  for (const [sign, operate] of Object.entries(operators)) {
    const mixed = (left: number | bigint, right: number | bigint) => operate(exact(left), exact(right))
    language.registerOperator(`int ${sign} double: double`, mixed)
    language.registerOperator(`double ${sign} int: double`, mixed)
  }
}

export function toExpressionError(text: string, error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error
  if (isOverBudget(error)) {
    const over = overBudgetError(text)
    return new ExpressionError(text, `${over.message}. ${over.hint}`, { cause: over })
  }
  if (error instanceof ValueError) return new ExpressionError(text, error.message, { cause: error })
  if (error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError) {
    const offset = error.range?.start
    return new ExpressionError(text, celErrorText(error), {
      ...(offset !== undefined && { offset }),
      cause: error,
    })
  }
  if (error instanceof RangeError) return new ExpressionError(text, 'is nested too deeply', { cause: error })
  return new ExpressionError(text, textOfThrown(error), { cause: error })
}

const NO_FUNCTION = 'there is no function `$1`'

function celErrorText({ code, summary }: { code: string; summary: string }): string {
  const last = summary.slice(summary.lastIndexOf(':') + 1).trim()
  const plain = summary.replaceAll(/dyn<([^<>]+)>/g, '$1')
  if (code === 'unknown_variable') return `there is no \`${last}\` here`
  if (code === 'no_such_key') return `there is no \`${last}\``
  if (code === 'reserved_identifier') return `\`${last}\` is a reserved word of CEL`
  if (code === 'unexpected_token' && last === 'EOF') return 'it ends too early'
  if (code === 'no_matching_overload')
    return plain.replace(/^found no matching overload for '(.*)'$/, NO_FUNCTION)
  if (code === 'no_such_overload') return plain.replace(/^no such overload: (.*)$/, '`$1` is not defined')
  return plain.charAt(0).toLowerCase() + plain.slice(1)
}

// JSON as CEL sees it, and back. CEL tells whole numbers (BigInt here) from doubles (Number here), JSON does not: a whole
// number is an int, so that `args.n == 3` and `list[args.n]` mean what they say.

/** What the language has no value for; the caller knows the expression. */
class ValueError extends Error {}

/** The same object when nothing in it is a whole number: most results pass uncopied. */
function toCel(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return listToCel(value)
  return mapToCel(value as { readonly [key: string]: Json })
}

function listToCel(list: readonly Json[]): readonly unknown[] {
  spend(list.length >> 3)
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Json
    const after = toCel(before)
    if (copy === undefined && after !== before) copy = list.slice(0, index)
    copy?.push(after)
  }
  return copy ?? list
}

function mapToCel(map: { readonly [key: string]: Json }): unknown {
  spend(1)
  // The library knows a map by its constructor: one with such a key of its own would be taken for something else.
  if (Object.hasOwn(map, 'constructor') || Object.hasOwn(map, '__proto__')) {
    const entries = Object.entries(map)
    spend(entries.length)
    return new Map(entries.map(([key, value]) => [key, toCel(value)]))
  }
  let copy: Record<string, unknown> | undefined
  let keys = 0
  for (const key in map) {
    if (++keys > FEW_KEYS) spend(1)
    const before = map[key] as Json
    const after = toCel(before)
    if (after === before) continue
    copy ??= { ...map }
    copy[key] = after
  }
  return copy ?? map
}

/** A map with few keys counts as one value: most are rows. */
const FEW_KEYS = 8

function fromCel(value: unknown): Json {
  switch (typeof value) {
    case 'string':
      spend(value.length >> 4)
      return value
    case 'boolean':
      return value
    case 'bigint':
      return wholeNumber(value)
    case 'number':
      if (!Number.isFinite(value)) throw new ValueError(`the result is ${value}, which JSON cannot hold`)
      return value
    case 'object':
      return value === null ? null : objectFromCel(value)
    default:
      throw new ValueError(`the result is a ${typeof value}, which is no value`)
  }
}

function wholeNumber(value: bigint): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new ValueError(`${value} is beyond 2^53, where JSON numbers are no longer exact; use string(...)`)
}

/** Parts may be shared and the whole much larger than what was computed: it is counted as it will be written. */
function objectFromCel(value: object): Json {
  spend(1)
  if (Array.isArray(value)) return listFromCel(value)
  if (value instanceof Map) return mapFromCel(value)
  if (value instanceof Optional) return value.hasValue() ? fromCel(value.value()) : null
  if (value instanceof Date) return value.toISOString()
  if (value instanceof UnsignedInt) return wholeNumber(value.valueOf())
  if (value instanceof Duration) {
    spend(FORMAT_STEPS)
    return value.toString()
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null)
    return plainFromCel(value as Record<string, unknown>)
  throw new ValueError('the result is neither data nor a time; a field of it may be meant')
}

function listFromCel(list: readonly unknown[]): Json {
  spend(list.length >> 3)
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index++) {
    const after = fromCel(list[index])
    if (copy === undefined && after !== list[index]) copy = list.slice(0, index) as Json[]
    copy?.push(after)
  }
  return copy ?? (list as readonly Json[])
}

function mapFromCel(map: ReadonlyMap<unknown, unknown>): Json {
  spend(map.size)
  return Object.fromEntries([...map].map(([key, value]) => [String(key), fromCel(value)]))
}

function plainFromCel(map: Record<string, unknown>): Json {
  let copy: Record<string, Json> | undefined
  let keys = 0
  for (const key in map) {
    if (++keys > FEW_KEYS) spend(1)
    const after = fromCel(map[key])
    if (after === map[key]) continue
    copy ??= { ...map } as Record<string, Json>
    copy[key] = after
  }
  return copy ?? (map as Record<string, Json>)
}

// What an expression reads: `steps.fetch.result.rows` is the path [steps, fetch, result, rows].

export type Path = readonly (string | number)[]

/** The path, when the whole expression is one. */
function purePath(node: ASTNode): Path | undefined {
  if (node.op === 'id') return [node.args]
  const key = keyOf(node)
  if (key === undefined) return undefined
  const parent = purePath((node.args as [ASTNode, unknown])[0])
  return parent && [...parent, key]
}

function keyOf(node: ASTNode): string | number | undefined {
  if (node.op === '.') return node.args[1]
  if (node.op !== '[]' || node.args[1].op !== 'value') return undefined
  const key = node.args[1].args
  if (typeof key === 'string') return key
  return typeof key === 'bigint' ? Number(key) : undefined
}

/** Every longest path in it. Names that a macro brings along (`n` in `list.map(n, n + 1)`) are not among them. */
function pathsOf(node: ASTNode): readonly Path[] {
  const found: Path[] = []
  collectPathsOf(node, new Set(), found)
  return found
}

function collectPathsOf(node: ASTNode, own: ReadonlySet<string>, found: Path[]): void {
  const path = purePath(node)
  if (path !== undefined) {
    if (!own.has(path[0] as string) && !isNamespace(path)) found.push(path)
    return
  }
  const named = macroVariableOf(node)
  const inner = named === undefined ? own : new Set([...own, named])
  for (const child of operandsOf(node)) collectPathsOf(child, inner, found)
}

/** `cel.bind` and `optional.of` are functions of the language. */
function isNamespace(path: Path): boolean {
  return path.length === 1 && (path[0] === 'cel' || path[0] === 'optional')
}

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind'])

function macroVariableOf(node: ASTNode): string | undefined {
  if (node.op !== 'rcall' || !MACROS.has(node.args[0])) return undefined
  const first = node.args[2][0]
  return node.args[2].length > 1 && first?.op === 'id' ? first.args : undefined
}

function operandsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'list':
      return node.args
    case 'map':
      return node.args.flat()
    case '!_':
    case '-_':
      return [node.args]
    default:
      return node.args
  }
}

// Regular expressions of `matches`: RE2, as CEL asks for, whose time is in proportion to the text. Wrong ones are named at compile time.

const MAX_PATTERN_LENGTH = 500

function refuseBadPatterns(text: string, node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches') refuseBadPattern(text, node.args[2][0])
  for (const operand of operandsOf(node)) refuseBadPatterns(text, operand)
}

function refuseBadPattern(text: string, pattern: ASTNode | undefined): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new ExpressionError(
      text,
      'the pattern of matches() must be written out, not computed',
      offsetOf(pattern),
    )
  }
  if (pattern.args.length > MAX_PATTERN_LENGTH) {
    throw new ExpressionError(
      text,
      `the pattern is longer than ${MAX_PATTERN_LENGTH} characters`,
      offsetOf(pattern),
    )
  }
  try {
    compilePattern(pattern.args)
  } catch (error) {
    throw new ExpressionError(text, `the pattern is wrong: ${(error as Error).message}`, offsetOf(pattern))
  }
}

function offsetOf(node: ASTNode | undefined): { offset?: number } {
  return node === undefined ? {} : { offset: node.start }
}

/** An expression or a template that cannot be compiled or computed; the message names it and says what is wrong. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly expression: string
  /** Where in the expression, counted from 0; absent when it is about the whole. */
  readonly offset?: number

  constructor(
    expression: string,
    reason: string,
    { offset, cause }: { offset?: number; cause?: unknown } = {},
  ) {
    super(`${quoteExpression(expression)}: ${reason}`, { cause })
    this.expression = expression
    if (offset !== undefined) this.offset = offset
  }

  /** The message without the expression, for one who shows where it stands. */
  get reason(): string {
    return this.message.slice(quoteExpression(this.expression).length + 2)
  }
}

function quoteExpression(expression: string): string {
  const line = expression.trim().replaceAll(/\s+/g, ' ')
  return `\`${line.length > 120 ? `${line.slice(0, 117)}...` : line}\``
}
