/** What is wrong with a text that shall be JSON, and where: line and column, counted from 1. */
import { StagedoorError } from '../errors.ts'

export function notJson(source: Uint8Array, at: number, reason: string): StagedoorError {
  const before = Buffer.from(source.buffer, source.byteOffset, at)
  const line = before.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 1)
  const column = before.subarray(before.lastIndexOf(0x0a) + 1).toString('utf8').length + 1
  return new StagedoorError('text_invalid', {
    reason: `it is not JSON at line ${line}, column ${column}: ${reason}`,
    line,
    column,
  })
}

/** Well-formed, but more than we take. */
export function notTaken(reason: string): StagedoorError {
  return new StagedoorError('staging_part_invalid', {}, { message: reason })
}
