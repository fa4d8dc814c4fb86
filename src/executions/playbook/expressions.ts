/** Conditions and templates of a playbook, computed. */
import { spendText, takeOver, withinBudget } from './budget.ts'
import { type Compiled, compile, explained, type Scope } from './cel.ts'
import type { Json } from './definition.ts'
import { ExpressionError } from './expression-error.ts'
import { SecretReference, SecretText } from './secrets.ts'
import { type Part, partsOf } from './template.ts'

export { type Compiled, compile, type Scope } from './cel.ts'
export { ExpressionError } from './expression-error.ts'
export { type References, stepsReferredTo } from './references.ts'
export { withSecrets } from './secrets.ts'

export function evaluate(expression: string | Compiled, scope: Scope): Json {
  const compiled = typeof expression === 'string' ? compile(expression) : expression
  return compiled.compute(scope)
}

/** A condition: anything but true or false is an error, not a guess. */
export function holds(expression: string, scope: Scope): boolean {
  const value = evaluate(expression, scope)
  if (typeof value === 'boolean') return value
  throw new ExpressionError(expression, `a condition gives true or false, this gave ${shown(value)}`)
}

/** A string that is nothing but `${…}` keeps the type of its value. Keys are not templates. */
export function render(template: Json, scope: Scope): Json {
  const plan = planOf(template)
  return plan === undefined ? template : withinBudget(() => plan(scope))
}

/** Absent for what holds no expression: that is its own result. */
type Plan = ((scope: Scope) => Json) | undefined

/** Templates of a playbook live as long as it does, and so do their plans. */
const plans = new WeakMap<object, { readonly plan: Plan }>()
const MOST_TEXTS = 20_000
const textPlans = new Map<string, Plan>()

function planOf(template: Json): Plan {
  if (typeof template === 'string') return planOfText(template)
  if (typeof template !== 'object' || template === null) return undefined
  const known = plans.get(template)
  if (known !== undefined) return known.plan
  const plan = Array.isArray(template)
    ? planOfList(template)
    : planOfMap(template as { readonly [key: string]: Json })
  plans.set(template, { plan })
  return plan
}

function planOfList(list: readonly Json[]): Plan {
  const inner = list.map(planOf)
  if (inner.every((plan) => plan === undefined)) return undefined
  return (scope) => list.map((item, index) => (inner[index] ? written(item, inner[index](scope)) : item))
}

function planOfMap(map: { readonly [key: string]: Json }): Plan {
  const changing = Object.entries(map).flatMap(([key, value]) => {
    const plan = planOf(value)
    return plan === undefined ? [] : [{ key, plan }]
  })
  if (changing.length === 0) return undefined
  return (scope) => {
    const rendered: Record<string, Json> = { ...map }
    for (const { key, plan } of changing) rendered[key] = written(map[key]!, plan(scope))
    return rendered
  }
}

/** What a text stands for, counted: a large value that is named often becomes much larger than all that was given. */
function written(template: Json, value: Json): Json {
  if (typeof template === 'string') counted(template, () => takeOver(value))
  return value
}

/** What is over the budget is said of the text that it stands in. */
function counted(text: string, count: () => void): void {
  try {
    count()
  } catch (error) {
    throw explained(text, error)
  }
}

function planOfText(text: string): Plan {
  if (!text.includes('${')) return undefined
  if (textPlans.has(text)) return textPlans.get(text)
  const plan = planOfParts(text, partsOf(text))
  if (textPlans.size >= MOST_TEXTS) textPlans.delete(textPlans.keys().next().value as string)
  textPlans.set(text, plan)
  return plan
}

function planOfParts(text: string, parts: readonly Part[]): Plan {
  const inner = parts.map((part) =>
    typeof part === 'string' ? () => part : planOfExpression(part.expression),
  )
  const only = inner[0]
  if (parts.length === 1 && only !== undefined) return only
  return (scope) =>
    joined(
      text,
      inner.map((plan) => plan(scope)),
    )
}

function planOfExpression(text: string): (scope: Scope) => Json {
  const compiled = compile(text)
  const name = secretOf(compiled)
  // The class is not JSON to TypeScript; withSecrets() takes it out again before anyone reads it as such.
  if (name !== undefined) return () => new SecretReference(name) as unknown as Json
  return compiled.compute
}

/** The name, if the expression is a secret. One that computes with a secret would have to be given its value. */
export function secretOf({ text, paths, ast }: Compiled): string | undefined {
  const path = paths.find(([root]) => root === 'secret')
  if (path === undefined) return undefined
  if (path.length === 2 && ast.op === '.' && typeof path[1] === 'string') return path[1]
  throw new ExpressionError(
    text,
    `a secret cannot be computed with; write it by itself, as in "Bearer \${secret.NAME}"`,
  )
}

function joined(text: string, values: readonly unknown[]): Json {
  counted(text, () => {
    for (const value of values) if (!(value instanceof SecretReference)) spendText(value)
  })
  if (!values.some((value) => value instanceof SecretReference)) return values.map(asText).join('')
  const parts = values.map((value) => (value instanceof SecretReference ? value : asText(value)))
  return new SecretText(parts) as unknown as Json
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
