/** CEL, compiled once per text. There is no clock and no chance in it: an execution that is replayed goes the same way. */
import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js'
import { isOverBudget, meterEvaluations, meterNode, overBudget, withinBudget } from './budget.ts'
import { fromCel, toCel, ValueError } from './cel-values.ts'
import type { Json } from './definition.ts'
import { ExpressionError } from './expression-error.ts'
import { type Path, pathsOf, purePath } from './paths.ts'
import { refuseBadPatterns } from './patterns.ts'

export type Scope = { readonly [name: string]: Json | undefined }

export interface Compiled {
  readonly text: string
  readonly ast: ASTNode
  /** What it reads from the scope. */
  readonly paths: readonly Path[]
  readonly compute: (scope: Scope) => Json
}

/** More than the expressions of all playbooks that one engine drives at a time; the oldest leave first. */
const MOST_KEPT = 20_000
const LONGEST = 20_000
const kept = new Map<string, Compiled>()

const language = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 5_000, maxDepth: 100 },
})
mixIntsWithDoubles()
meterEvaluations(language)

export function compile(text: string): Compiled {
  const known = kept.get(text)
  if (known !== undefined) return known
  const compiled = compileAnew(text)
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as string)
  kept.set(text, compiled)
  return compiled
}

function compileAnew(text: string): Compiled {
  if (text.length > LONGEST) throw new ExpressionError(text, `is longer than ${LONGEST} characters`)
  const run = parsed(text)
  refuseBadPatterns(text, run.ast)
  meterNode(run.ast)
  const path = purePath(run.ast)
  if (path !== undefined) {
    return { text, ast: run.ast, paths: [path], compute: (scope) => follow(text, path, scope) }
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
      throw isRead || error instanceof RangeError || isOverBudget(error) ? explained(text, error) : error
    }
  }
  return { text, ast: run.ast, paths, compute }
}

function parsed(text: string) {
  if (text.trim() === '') throw new ExpressionError(text, 'there is no expression')
  try {
    const run = language.parse(text)
    const checked = run.check()
    if (!checked.valid) throw checked.error
    return run
  } catch (error) {
    throw explained(text, error)
  }
}

/** A path gives the value as it is, however large: nothing is converted. */
function follow(text: string, path: Path, scope: Scope): Json {
  let value = rootOf(scope, path[0] as string)
  if (value === undefined) throw new ExpressionError(text, `there is no \`${path[0]}\` here`, { offset: 0 })
  for (let depth = 1; depth < path.length; depth++) {
    value = childOf(value, path[depth] as string | number)
    if (value === undefined) throw new ExpressionError(text, missing(path, depth))
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

function missing(path: Path, depth: number): string {
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
      if (value !== undefined) context[name] = projected(value, branch)
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

function projected(value: Json, branch: Branch): unknown {
  if (branch.whole || typeof value !== 'object' || value === null || Array.isArray(value)) return toCel(value)
  const part: Record<string, unknown> = Object.create(null)
  for (const [key, below] of branch.children) {
    const child = childOf(value, key)
    if (child !== undefined) part[key] = projected(child, below)
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

export function explained(text: string, error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error
  if (isOverBudget(error)) {
    const over = overBudget(text)
    return new ExpressionError(text, `${over.message}. ${over.hint}`, { cause: over })
  }
  if (error instanceof ValueError) return new ExpressionError(text, error.message, { cause: error })
  if (error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError) {
    const offset = error.range?.start
    return new ExpressionError(text, inWords(error), {
      ...(offset !== undefined && { offset }),
      cause: error,
    })
  }
  if (error instanceof RangeError) return new ExpressionError(text, 'is nested too deeply', { cause: error })
  return new ExpressionError(text, error instanceof Error ? error.message : String(error), { cause: error })
}

const NO_FUNCTION = 'there is no function `$1`'

function inWords({ code, summary }: { code: string; summary: string }): string {
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
