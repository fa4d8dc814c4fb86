import { writeFile } from 'node:fs/promises'
import { addRawColumn, type ChunkRow, chunkLine } from '../../../src/ingest/readers/chunks.ts'

/** Writes one chunk from rows, as the readers write theirs from a file. */
export async function writeChunk(path: string, headers: string[], rows: readonly ChunkRow[]): Promise<void> {
  await writeFile(path, rows.map((row) => chunkLine(row, headers.length)).join(''))
  await addRawColumn([path], headers)
}
