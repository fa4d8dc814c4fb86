/**
 * Secrets stay out of everything that is written down: `${secret.NAME}` renders to a reference, and only the process that
 * runs the tool puts the value in, last of all. A reference is known by its class, so that data from outside that looks
 * like one, such as {"$secret": "HOME"}, stays data.
 */
import type { Json } from './definition.ts'
import { ExpressionError } from './expression-error.ts'

export class SecretReference {
  readonly secret: string
  constructor(secret: string) {
    this.secret = secret
  }
  toJSON(): Json {
    return { $secret: this.secret }
  }
}

/** Text with secrets in it. */
export class SecretText {
  readonly parts: readonly (string | SecretReference)[]
  constructor(parts: readonly (string | SecretReference)[]) {
    this.parts = parts
  }
  toJSON(): Json {
    return { $text: this.parts.map((part) => (typeof part === 'string' ? part : part.toJSON())) }
  }
}

type SecretOf = (name: string) => string | undefined

/** The value with its secrets put in; for the tool alone, never to be kept. */
export function withSecrets(value: Json, secret: SecretOf): Json {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof SecretReference) return resolved(value, secret)
  if (value instanceof SecretText) {
    return value.parts.map((part) => (typeof part === 'string' ? part : resolved(part, secret))).join('')
  }
  if (Array.isArray(value)) return listWithSecrets(value, secret)
  return mapWithSecrets(value as { readonly [key: string]: Json }, secret)
}

function listWithSecrets(list: readonly Json[], secret: SecretOf): readonly Json[] {
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index++) {
    const after = withSecrets(list[index] as Json, secret)
    if (after === list[index]) continue
    copy ??= [...list]
    copy[index] = after
  }
  return copy ?? list
}

function mapWithSecrets(map: { readonly [key: string]: Json }, secret: SecretOf): Json {
  let copy: Record<string, Json> | undefined
  for (const key in map) {
    const after = withSecrets(map[key] as Json, secret)
    if (after === map[key]) continue
    copy ??= { ...map }
    copy[key] = after
  }
  return copy ?? map
}

function resolved({ secret: name }: SecretReference, secret: SecretOf): string {
  const value = secret(name)
  if (value !== undefined && value !== '') return value
  throw new ExpressionError(
    `\${secret.${name}}`,
    `the secret ${name} is not set; give the process that runs the step the environment variable STAGEDOOR_SECRET_${name}`,
  )
}
