/** JSON that must arrive and leave exactly as it is: JavaScript rounds numbers beyond 2^53. */
import { type ErrorCode, StagedoorError } from '../errors.ts'

/** Refuses what is not UTF-8 instead of storing replacement characters. A byte order mark is kept where asked. */
export function decodeUtf8(bytes: Uint8Array, what: string, options: { keepMark?: boolean } = {}): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: options.keepMark === true }).decode(bytes)
  } catch (error) {
    throw new StagedoorError('text_invalid', { reason: `${what} is not valid UTF-8` }, { cause: error })
  }
}

/**
 * A copy to look at; what is stored is the text. Only what is one JSON value by itself may be put between the braces
 * of another.
 */
export function readJson(text: string, what: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = `${what} is not JSON: ${(error as Error).message}`
    throw new StagedoorError(code, { reason }, { cause: error })
  }
}

/** JSON text of the object with one more member, whose value is JSON text already. */
export function withExactMember(object: object, name: string, value: string | null): string {
  const text = JSON.stringify(object)
  const comma = text === '{}' ? '' : ','
  return `${text.slice(0, -1)}${comma}${JSON.stringify(name)}:${value ?? 'null'}}`
}
