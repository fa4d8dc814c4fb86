/** postgres.log: one old file is kept, and its end is shown when a start fails. */
import { open, rename, stat } from 'node:fs/promises'
import { errno } from './files.ts'

const ROTATE_AT = 10 * 1024 * 1024
const SHOWN_LINES = 12
const SHOWN_BYTES = 8192

export async function rotateLog(path: string): Promise<void> {
  if ((await logSize(path)) > ROTATE_AT) await rename(path, `${path}.1`)
}

export async function logSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errno(error) === 'ENOENT') return 0
    throw error
  }
}

/** The last lines written after the given size. */
export async function logTail(path: string, after: number): Promise<string> {
  const size = await logSize(path)
  const from = Math.max(after, size - SHOWN_BYTES)
  if (size <= from) return ''
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const text = buffer.subarray(0, bytesRead).toString('utf8').trimEnd()
    return text.split('\n').slice(-SHOWN_LINES).join('\n')
  } finally {
    await file.close()
  }
}
