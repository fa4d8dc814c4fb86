/** Text as the database holds it. The driver would write half a character as U+FFFD, and nobody would know. */
import { StagedoorError } from '../errors.ts'

const HALF_OR_NUL = /[\p{Surrogate}\0]/u

/** Refuses what is no text: half of a surrogate pair, and NUL, which no text of the database can hold. */
export function requireText(field: string, text: string | undefined): void {
  const at = text?.search(HALF_OR_NUL) ?? -1
  if (at < 0) return
  const what = text![at] === '\0' ? 'NUL' : 'half a character (a lone surrogate)'
  throw new StagedoorError(
    'argument_invalid',
    { reason: `The ${field} holds ${what} at ${at}, which is no text` },
    { hint: 'Send it as well-formed Unicode; a text that was cut in two lost half of its last character.' },
  )
}

/** The same for whatever JSON holds, keys included. */
export function requireJsonText(field: string, value: unknown): void {
  if (typeof value === 'string') requireText(field, value)
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    requireText(field, key)
    requireJsonText(field, inner)
  }
}
