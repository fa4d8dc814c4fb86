// @module-tag long
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { normaliseFile } from '../../../src/ingest/readers/normalise.ts'
import { rowsOf } from './read-back.ts'

const MIB = 1024 * 1024
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stagedoor-memory-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await closeDuck()
})

/** The most that buffers took while the file was read, above what they took before. */
async function mostHeld(path: string) {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const file = await normaliseFile(path, folder, {
    onProgress: () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    },
  })
  return { file, most }
}

describe('A line of 100 MB', () => {
  it.each([
    ['bare', 'x', 'line_too_long'],
    ['in a quote that is never closed', '"x', 'line_too_long'],
  ])('%s is not held, and the lines around it are read', async (_, begin, flaw) => {
    const path = join(folder, 'long.csv')
    const writing = await open(path, 'w')
    await writing.write(`a,b\n1,2\n${begin}`)
    for (let written = 0; written < 100; written++) await writing.write(Buffer.alloc(MIB, 'y'))
    await writing.write('\n3,4\n')
    await writing.close()

    const { file, most } = await mostHeld(path)
    expect(most).toBeLessThan(24 * MIB)
    expect((await rowsOf(file)).map((row) => [row.line, row.flaw])).toEqual([
      [2, ''],
      [3, flaw],
      [4, ''],
    ])
  })
})
