/** Conditions and templates of a playbook, computed. */

import type { Json } from '../../kernel/json.ts'
import { spendCopiedValue, spendText, withinBudget } from './budget.ts'
import { type Compiled, compile, ExpressionError, type Path, type Scope, toExpressionError } from './cel.ts'

export function evaluate(expression: string | Compiled, scope: Scope): Json {
  const compiled = typeof expression === 'string' ? compile(expression) : expression
  return compiled.compute(scope)
}

/** A condition: anything but true or false is an error, not a guess. */
export function evaluateCondition(expression: string, scope: Scope): boolean {
  const value = evaluate(expression, scope)
  if (typeof value === 'boolean') return value
  throw new ExpressionError(expression, `a condition gives true or false, this gave ${quote(value)}`)
}

/** A string that is nothing but `${…}` keeps the type of its value. Keys are not templates. */
export function render(template: Json, scope: Scope): Json {
  const plan = rendererOf(template)
  return plan === undefined ? template : withinBudget(() => plan(scope))
}

/** Absent for what holds no expression: that is its own result. */
type Renderer = ((scope: Scope) => Json) | undefined

/** Templates of a playbook live as long as it does, and so do their plans. */
const renderers = new WeakMap<object, { readonly plan: Renderer }>()
const MAX_TEXT_RENDERERS = 20_000
const textRenderers = new Map<string, Renderer>()

function rendererOf(template: Json): Renderer {
  if (typeof template === 'string') return textRenderer(template)
  if (typeof template !== 'object' || template === null) return undefined
  const known = renderers.get(template)
  if (known !== undefined) return known.plan
  const plan = Array.isArray(template)
    ? listRenderer(template)
    : mapRenderer(template as { readonly [key: string]: Json })
  renderers.set(template, { plan })
  return plan
}

function listRenderer(list: readonly Json[]): Renderer {
  const inner = list.map(rendererOf)
  if (inner.every((plan) => plan === undefined)) return undefined
  return (scope) => list.map((item, index) => (inner[index] ? spendIfText(item, inner[index](scope)) : item))
}

function mapRenderer(map: { readonly [key: string]: Json }): Renderer {
  const changing = Object.entries(map).flatMap(([key, value]) => {
    const plan = rendererOf(value)
    return plan === undefined ? [] : [{ key, plan }]
  })
  if (changing.length === 0) return undefined
  return (scope) => {
    const rendered: Record<string, Json> = { ...map }
    for (const { key, plan } of changing) rendered[key] = spendIfText(map[key]!, plan(scope))
    return rendered
  }
}

/** Counts what a text renders to: a large value that is named often becomes much larger than all that was given. */
function spendIfText(template: Json, value: Json): Json {
  if (typeof template === 'string') withTextInError(template, () => spendCopiedValue(value))
  return value
}

/** An error about the budget names the text that it is about. */
function withTextInError(text: string, count: () => void): void {
  try {
    count()
  } catch (error) {
    throw toExpressionError(text, error)
  }
}

function textRenderer(text: string): Renderer {
  if (!text.includes('${')) return undefined
  if (textRenderers.has(text)) return textRenderers.get(text)
  const plan = partsRenderer(text, parseTemplate(text))
  if (textRenderers.size >= MAX_TEXT_RENDERERS)
    textRenderers.delete(textRenderers.keys().next().value as string)
  textRenderers.set(text, plan)
  return plan
}

function partsRenderer(text: string, parts: readonly TemplatePart[]): Renderer {
  const inner = parts.map((part) =>
    typeof part === 'string' ? () => part : expressionRenderer(part.expression),
  )
  const only = inner[0]
  if (parts.length === 1 && only !== undefined) return only
  return (scope) =>
    joinParts(
      text,
      inner.map((plan) => plan(scope)),
    )
}

function expressionRenderer(text: string): (scope: Scope) => Json {
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

function joinParts(text: string, values: readonly unknown[]): Json {
  withTextInError(text, () => {
    for (const value of values) if (!(value instanceof SecretReference)) spendText(value)
  })
  if (!values.some((value) => value instanceof SecretReference)) return values.map(asText).join('')
  const parts = values.map((value) => (value instanceof SecretReference ? value : asText(value)))
  return new SecretText(parts) as unknown as Json
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function quote(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

// Text with `${ CEL }` in it. `$${` is a `${` that is meant as text.

/** `offset` is where the expression begins in the text. */
type TemplatePart = string | { readonly expression: string; readonly offset: number }

export function parseTemplate(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let plain = ''
  let at = 0
  while (at < text.length) {
    const dollar = text.indexOf('${', at)
    if (dollar === -1) break
    if (text[dollar - 1] === '$' && dollar > at) {
      plain += `${text.slice(at, dollar - 1)}\${`
      at = dollar + 2
      continue
    }
    plain += text.slice(at, dollar)
    if (plain !== '') parts.push(plain)
    plain = ''
    const end = closingBrace(text, dollar + 2)
    parts.push({ expression: text.slice(dollar + 2, end), offset: dollar + 2 })
    at = end + 1
  }
  plain += text.slice(at)
  if (plain !== '') parts.push(plain)
  return parts
}

/** The brace that ends the expression: not one of a map, nor one in a string or a comment of it. */
function closingBrace(text: string, from: number): number {
  let open = 0
  for (let at = from; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"' || sign === "'") at = endOfString(text, at, sign)
    else if (sign === '/' && text[at + 1] === '/') at = endOfLine(text, at)
    else if (sign === '{') open++
    else if (sign === '}' && open-- === 0) return at
  }
  throw new ExpressionError(
    text.slice(from - 2),
    `this \${ has no closing } ($\${ is a \${ that is meant as text)`,
    { offset: from - 2 },
  )
}

/** The place of its last quote. */
function endOfString(text: string, from: number, quote: string): number {
  const fence = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  const raw = /(?:^|[^\w])(?:[rR][bB]?|[bB][rR])$/.test(text.slice(Math.max(0, from - 3), from))
  let at = from + fence.length
  while (at < text.length && !text.startsWith(fence, at)) at += text[at] === '\\' && !raw ? 2 : 1
  if (at >= text.length)
    throw new ExpressionError(text.slice(from), 'this text has no closing quote', { offset: from })
  return at + fence.length - 1
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

// What expressions need of an execution, read from their text: a result that nobody refers to is never loaded.

export interface References {
  /** Steps of which anything is needed. */
  readonly steps: string[]
  /** Those whose `result` is needed. */
  readonly values: string[]
  /** Loops whose collected `results` are needed. */
  readonly results: string[]
  readonly args: boolean
  /** Which steps cannot be determined (`steps[args.name]`, or `steps` as a whole): every one. */
  readonly all: boolean
}

/** Of templates; the strings of a list may also be conditions, which are CEL without `${}`. */
export function findReferences(templates: Json | readonly string[]): References {
  const paths: Path[] = []
  if (Array.isArray(templates)) {
    for (const item of templates) if (typeof item === 'string') paths.push(...pathsOfCondition(item))
  }
  collectPaths(templates as Json, paths)
  return referencesIn(paths)
}

function referencesIn(paths: readonly Path[]): References {
  const steps = new Set<string>()
  const values = new Set<string>()
  const results = new Set<string>()
  let args = false
  let all = false
  for (const [root, step, field] of paths) {
    if (root === 'args') args = true
    if (root !== 'steps') continue
    if (typeof step !== 'string') {
      all = true
      continue
    }
    steps.add(step)
    if (field === undefined || field === 'result') values.add(step)
    if (field === undefined || field === 'results') results.add(step)
  }
  return { steps: [...steps], values: [...values], results: [...results], args, all }
}

function collectPaths(template: Json, paths: Path[]): void {
  if (typeof template === 'string') {
    for (const expression of expressionsIn(template)) paths.push(...pathsOfCondition(expression))
  } else if (typeof template === 'object' && template !== null) {
    for (const inner of Object.values(template)) collectPaths(inner as Json, paths)
  }
}

function expressionsIn(text: string): string[] {
  if (!text.includes('${')) return []
  return emptyIfInvalid(() =>
    parseTemplate(text).flatMap((part) => (typeof part === 'string' ? [] : [part.expression])),
  )
}

/** Plain text in a list is no condition: what does not compile refers to nothing. */
function pathsOfCondition(text: string): readonly Path[] {
  return emptyIfInvalid(() => [...compile(text).paths])
}

function emptyIfInvalid<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}

// Secrets stay out of everything that is written down: `${secret.NAME}` renders to a reference, and only the process that
// runs the tool puts the value in, last of all. A reference is known by its class, so that data from outside that looks
// like one, such as {"$secret": "HOME"}, stays data.

class SecretReference {
  readonly secret: string
  constructor(secret: string) {
    this.secret = secret
  }
  toJSON(): Json {
    return { $secret: this.secret }
  }
}

/** Text with secrets in it. */
class SecretText {
  readonly parts: readonly (string | SecretReference)[]
  constructor(parts: readonly (string | SecretReference)[]) {
    this.parts = parts
  }
  toJSON(): Json {
    return { $text: this.parts.map((part) => (typeof part === 'string' ? part : part.toJSON())) }
  }
}

type FindSecret = (name: string) => string | undefined

/** The value with its secrets put in; for the tool alone, never to be kept. */
export function withSecrets(value: Json, secret: FindSecret): Json {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof SecretReference) return resolveSecret(value, secret)
  if (value instanceof SecretText) {
    return value.parts.map((part) => (typeof part === 'string' ? part : resolveSecret(part, secret))).join('')
  }
  if (Array.isArray(value)) return listWithSecrets(value, secret)
  return mapWithSecrets(value as { readonly [key: string]: Json }, secret)
}

function listWithSecrets(list: readonly Json[], secret: FindSecret): readonly Json[] {
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index++) {
    const after = withSecrets(list[index] as Json, secret)
    if (after === list[index]) continue
    copy ??= [...list]
    copy[index] = after
  }
  return copy ?? list
}

function mapWithSecrets(map: { readonly [key: string]: Json }, secret: FindSecret): Json {
  let copy: Record<string, Json> | undefined
  for (const key in map) {
    const after = withSecrets(map[key] as Json, secret)
    if (after === map[key]) continue
    copy ??= { ...map }
    copy[key] = after
  }
  return copy ?? map
}

function resolveSecret({ secret: name }: SecretReference, secret: FindSecret): string {
  const value = secret(name)
  if (value !== undefined && value !== '') return value
  throw new ExpressionError(
    `\${secret.${name}}`,
    `the secret ${name} is not set; give the process that runs the step the environment variable STAGEDOOR_SECRET_${name}`,
  )
}
