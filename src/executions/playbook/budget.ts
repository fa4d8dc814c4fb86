/**
 * The cost limit of expressions. A playbook must not block the process that drives all executions, so every expression has a budget of
 * steps: nodes that are evaluated, and what functions and comparisons read. It counts work,
 * never time: the same expression on the same values fails always or never. A step takes 0.1 to 0.2 µs.
 *
 * The language's evaluator knows no such limit. It evaluates every node by its method `run`: that one is replaced, and the
 * handlers of nodes whose cost follows from their operands are told first what they are about to read.
 */
import { setImmediate } from 'node:timers/promises'
import { type ASTNode, type Environment, EvaluationError } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { StagedoorError } from '../../kernel/errors.ts'

/** Of one expression, or of one template with all expressions in it. */
const MAX_STEPS = 250_000
/** Of everything that is computed for one input of an execution. */
const MAX_DECISION_STEPS = 1_000_000
/** Of the values that a template takes over whole, without computing: how many it may write altogether. */
const MAX_VALUES = 5_000_000
/** An error that the language passes over: it comes with a stack and a quotation of the source, and takes 20 to 80 µs. */
const ERROR_STEPS = 250
/** A time in another time zone, or a duration with a fraction: the language formats it as text, in 30 to 100 µs. */
export const FORMAT_STEPS = 500
/** The instructions of a pattern: `(a{30}){30}` has 900. */
const MAX_PATTERN_SIZE = 300

/** Thrown through the language's own error handling. Made once: it may be met many times on the way out of nested loops. */
class OverBudget extends Error {}
const OVER_BUDGET = new OverBudget()

/** What is left of the running expression, and of the decision that it is part of. Evaluation is synchronous: one at a time. */
let stepsLeft = 0
let decisionStepsLeft = Number.POSITIVE_INFINITY
let valuesLeft = Number.POSITIVE_INFINITY
let depth = 0
/** What is known of the maps that the running expression has met. Of this one only: a value may have changed by the next. */
let maps = new WeakMap<object, MapFacts>()
/** Since the event loop last came round. */
let spentThisTurn = 0

/** Counts work that is about to be done. */
export function spend(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw OVER_BUDGET
}

/** One expression or template; within another one it shares that one's budget. */
export function withinBudget<T>(compute: () => T): T {
  if (depth > 0) return compute()
  const granted = Math.min(MAX_STEPS, decisionStepsLeft)
  stepsLeft = granted
  valuesLeft = Number.POSITIVE_INFINITY
  maps = new WeakMap()
  depth++
  try {
    return compute()
  } finally {
    depth--
    const spent = granted - Math.max(0, stepsLeft)
    decisionStepsLeft -= spent
    if (spent > 0) countThisTurn(spent)
  }
}

/** Everything that one input leads to. */
export function withinDecisionBudget<T>(decide: () => T): T {
  decisionStepsLeft = MAX_DECISION_STEPS
  try {
    return decide()
  } finally {
    decisionStepsLeft = Number.POSITIVE_INFINITY
  }
}

/**
 * A value that a template takes over as it is. It is counted as it will be written, however often it is named. The first is not counted: by
 * itself it is no larger than what was given, which has limits of its own.
 */
export function spendCopiedValue(value: unknown): void {
  if (valuesLeft === Number.POSITIVE_INFINITY) {
    valuesLeft = MAX_VALUES
    return
  }
  valuesLeft -= sizeOf(value, valuesLeft)
  if (valuesLeft < 0) throw OVER_BUDGET
}

export function isOverBudget(error: unknown): boolean {
  return error instanceof OverBudget
}

export function overBudgetError(expression: string): StagedoorError {
  return new StagedoorError('expression_over_budget', { expression, limit: MAX_STEPS })
}

function countThisTurn(spent: number): void {
  if (spentThisTurn === 0) {
    void setImmediate().then(() => {
      spentThisTurn = 0
    })
  }
  spentThisTurn += spent
}

/** So much was computed that others should have their turn first: requests, heartbeats, other executions. */
export function isLoopBusy(): boolean {
  return spentThisTurn > MAX_STEPS
}

/** Resolves when they have had it. */
export async function yieldUntilLoopIsFree(): Promise<void> {
  while (isLoopBusy()) await setImmediate()
}

interface Evaluator {
  run(node: MeteredNode, context: unknown): unknown
  tryEval(node: MeteredNode, context: unknown): unknown
  debugTypeDeep(value: unknown): unknown
}

type Handle = (first: unknown, second: unknown, third: unknown, fourth: unknown) => unknown
type MeteredNode = ASTNode & {
  evaluate(evaluator: Evaluator, node: MeteredNode, context: unknown): unknown
  handle?: Handle
  metered?: true
  /** Set where the language evaluates another node in its place: the loop of a macro. */
  meta?: { readonly alternate?: ASTNode }
}

/** From now on whatever this environment evaluates is counted. */
export function meterEvaluations(language: Environment): void {
  const probe = language.parse('null')
  let evaluator: Evaluator | undefined
  const node = probe.ast as MeteredNode
  node.evaluate = (own) => {
    evaluator = own
    return null
  }
  probe()
  if (evaluator === undefined) throw new Error('the evaluator of @marcbachmann/cel-js cannot be metered')
  evaluator.run = function (node, context) {
    if (--stepsLeft < 0) throw OVER_BUDGET
    if (node.metered === undefined) meterNode(node)
    return node.evaluate(this, node, context)
  }
  evaluator.tryEval = function (node, context) {
    try {
      return this.run(node, context)
    } catch (error) {
      // `exists` and `||` go on after an error of one operand; nothing goes on after this one.
      if (error === OVER_BUDGET) throw error
      spend(ERROR_STEPS)
      return error
    }
  }
  // Asked for the operands of every call. Of a map it lists all keys to find the first one.
  const { debugTypeDeep } = evaluator
  evaluator.debugTypeDeep = function (value) {
    if (!isMap(value)) return debugTypeDeep.call(this, value)
    const facts = factsOf(value)
    facts.type ??= debugTypeDeep.call(this, value)
    return facts.type
  }
}

/** Counts what the handler of a node is about to read. The language sets the handler when it checks the types. */
export function meterNode(node: ASTNode): void {
  const metered = node as MeteredNode
  if (metered.metered) return
  metered.metered = true
  const { handle, meta } = metered
  if (meta?.alternate !== undefined) meterNode(meta.alternate)
  if (handle === undefined) return
  switch (node.op) {
    case 'in':
      metered.handle = (value, list, third, fourth) => {
        spend(costOfSearch(value, list))
        return handle(value, list, third, fourth)
      }
      break
    case '==':
    case '!=':
      metered.handle = (one, other, third, fourth) => {
        spend(costOfComparison(one, other))
        return handle(one, other, third, fourth)
      }
      break
    case '+':
    case '<':
    case '<=':
    case '>':
    case '>=':
      metered.handle = (one, other, third, fourth) => {
        spend(shallowSize(one) + shallowSize(other))
        return handle(one, other, third, fourth)
      }
      break
    case 'comprehension' as ASTNode['op']:
      metered.handle = (items, second, third, fourth) => {
        // A loop over a map makes a list of its keys first.
        if (isMap(items)) spend(shallowSize(items))
        return handle(items, second, third, fourth)
      }
      break
    case 'call':
      metered.handle = (args, second, third, fourth) => {
        spend(costOfCall(node.args[0], args as readonly unknown[]))
        return handle(args, second, third, fourth)
      }
      break
    case 'rcall':
      metered.handle =
        node.args[0] === 'matches' ? meterMatches(node, handle) : meterCall(node.args[0], handle)
  }
}

function meterCall(name: string, handle: Handle): Handle {
  return (args, second, third, fourth) => {
    spend(costOfCall(name, args as readonly unknown[]))
    return handle(args, second, third, fourth)
  }
}

/** JavaScript's patterns can take time without end; those of RE2 take time in proportion to text and pattern. */
function meterMatches(node: ASTNode, handle: Handle): Handle {
  return (args, second, third, fourth) => {
    const [text, pattern] = args as readonly unknown[]
    if (typeof text !== 'string' || typeof pattern !== 'string') return handle(args, second, third, fourth)
    try {
      // What was compiled long ago may have been forgotten.
      if (!patterns.has(pattern)) spend(MAX_PATTERN_SIZE * 20)
      const compiled = compilePattern(pattern)
      spend((text.length * compiled.programSize()) >> 2)
      return compiled.test(text)
    } catch (error) {
      if (error === OVER_BUDGET) throw error
      throw new EvaluationError((error as Error).message, node)
    }
  }
}

const MAX_PATTERNS = 1000
const patterns = new Map<string, RE2JS>()

/** Throws what is wrong with it. */
export function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const compiled = RE2JS.compile(pattern)
  if (compiled.programSize() > MAX_PATTERN_SIZE)
    throw new Error(
      `the pattern repeats too much: it has ${compiled.programSize()} instructions of at most ${MAX_PATTERN_SIZE}`,
    )
  if (patterns.size >= MAX_PATTERNS) patterns.delete(patterns.keys().next().value as string)
  patterns.set(pattern, compiled)
  return compiled
}

function costOfSearch(value: unknown, list: unknown): number {
  if (!Array.isArray(list)) return 0
  if (typeof value === 'object' && value !== null)
    return list.length * sizeOf(value, stepsLeft) + sizeOf(list, stepsLeft)
  return (list.length >> 2) + (typeof value === 'string' ? list.length * (value.length >> 10) : 0)
}

function costOfComparison(one: unknown, other: unknown): number {
  const isDeep = typeof one === 'object' && typeof other === 'object' && one !== null && other !== null
  if (!isDeep) return shallowSize(one) + shallowSize(other)
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return 1
  return sizeOf(one, stepsLeft) + sizeOf(other, stepsLeft)
}

/** Texts are searched in time of both lengths at worst. */
const SEARCHES: ReadonlySet<string> = new Set(['contains', 'indexOf', 'lastIndexOf', 'split'])
/** These look at every character by itself, or make a value of it. */
const BY_CHARACTER: ReadonlySet<string> = new Set(['size', 'split', 'json'])

function costOfCall(name: string, args: readonly unknown[]): number {
  let cost = 0
  for (const arg of args) cost += shallowSize(arg)
  const [text, part] = args
  if (typeof text === 'string' || text instanceof Uint8Array) {
    if (BY_CHARACTER.has(name)) cost += text.length >> 2
    // Its pattern backtracks over digits without a unit, from each digit.
    if (name === 'duration') cost += Math.ceil(text.length ** 3 / 256)
  }
  if (SEARCHES.has(name) && typeof text === 'string' && typeof part === 'string')
    cost += Math.ceil((text.length * part.length) / 1024)
  if (name === 'join' && Array.isArray(text)) for (const item of text) cost += shallowSize(item)
  if (text instanceof Date && part !== undefined) cost += FORMAT_STEPS
  return cost
}

function shallowSize(value: unknown): number {
  if (typeof value === 'string') return value.length >> 4
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.length >> 2
  if (value instanceof Uint8Array) return value.length >> 4
  return isMap(value) ? 1 + (factsOf(value).keys >> 1) : 1
}

interface MapFacts {
  readonly keys: number
  type?: unknown
}

function isMap(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return value instanceof Map || value.constructor === undefined || value.constructor === Object
}

function factsOf(map: object): MapFacts {
  const known = maps.get(map)
  if (known !== undefined) return known
  const facts = { keys: map instanceof Map ? map.size : Object.keys(map).length }
  spend(facts.keys >> 1)
  maps.set(map, facts)
  return facts
}

/** How many values are in it; it stops counting beyond `most`. */
function sizeOf(value: unknown, most: number): number {
  let size = 0
  const open: unknown[] = [value]
  while (open.length > 0 && size <= most) {
    const next = open.pop()
    size++
    if (typeof next === 'string') size += next.length >> 4
    else if (Array.isArray(next)) {
      if (size + next.length > most) return size + next.length
      for (const item of next) open.push(item)
    } else if (typeof next === 'object' && next !== null && !(next instanceof Uint8Array))
      for (const item of next instanceof Map ? next.values() : Object.values(next)) open.push(item)
  }
  return size
}

/** A value in the middle of a text, before it is written. */
export function spendText(value: unknown): void {
  spend(sizeOf(value, stepsLeft))
}
