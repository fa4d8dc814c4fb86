import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack, rowsOf } from './read-back.ts'
import { writeChunk } from './write-chunk.ts'

afterAll(closeDuck)

const values = async (content: string | Uint8Array, options = {}) =>
  (await readBack(content, options)).rows.map((row) => row.values)

describe('Regular files', () => {
  it('are read with quotes, doubled quotes, delimiters and line ends inside quotes', async () => {
    const { rows } = await readBack('a,b\n"x, ""y""","1\r\n2\r3"\nz,4\n')
    expect(rows).toEqual([
      { line: 2, flaw: '', extra: '', values: ['x, "y"', '1\n2\n3'] },
      { line: 5, flaw: '', extra: '', values: ['z', '4'] },
    ])
  })

  it('may end their lines in LF, CRLF and CR, all in one file, and the last one not at all', async () => {
    const { rows } = await readBack('a,b\r\n1,2\r3,4\n5,6\r\n7,8')
    expect(rows.map((row) => [row.line, ...row.values])).toEqual([
      [2, '1', '2'],
      [3, '3', '4'],
      [4, '5', '6'],
      [5, '7', '8'],
    ])
  })

  it('may have blank lines and rows without a value: passed over, but their lines are counted', async () => {
    const { rows, lines, notes } = await readBack('a,b\n\n1,2\n  \n,\n3,4\n\n')
    expect(rows.map((row) => [row.line, ...row.values])).toEqual([
      [3, '1', '2'],
      [6, '3', '4'],
    ])
    expect(lines).toBe(2)
    expect(notes).toMatchObject([{ rule: 'file.blank_rows', count: 1 }])
  })

  it('may have a quote within a bare field, which is text, and blanks behind a closing quote', async () => {
    expect(await values('a,b\n5" screen,say "hi"\n"x" ,1\n')).toEqual([
      ['5" screen', 'say "hi"'],
      ['x', '1'],
    ])
  })

  it('may have a delimiter at the end of every line, with the header’s or without', async () => {
    const both = await readBack('a,b,\n1,2,\n3,4,\n5,6\n')
    expect(both.headers).toEqual(['a', 'b'])
    expect(both.rows.map((row) => row.flaw)).toEqual(['', '', ''])
    const knowsHeader = (name: string) => ['a', 'b'].includes(name)
    const dataOnly = await readBack('a,b\n1,2,\n3,4,\n', { knowsHeader })
    expect(dataOnly.headers).toEqual(['a', 'b'])
    expect(dataOnly.rows.map((row) => row.flaw)).toEqual(['', ''])
    expect(dataOnly.notes).toMatchObject([{ rule: 'file.trailing_delimiter', count: 2 }])
    // A name may be missing as well, and then every value stands under a wrong one.
    await expect(readBack('a,b\n1,2,\n3,4,\n')).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  it('are split into chunks of the given number of lines, in order', async () => {
    const content = `n\n${Array.from({ length: 25 }, (_, index) => index).join('\n')}\n`
    const { chunks, rows, lines } = await readBack(content, { chunkLines: 10, format: 'csv' })
    expect(chunks).toHaveLength(3)
    expect(lines).toBe(25)
    expect(rows.map((row) => row.values[0])).toEqual(Array.from({ length: 25 }, (_, index) => String(index)))
  })

  it('are refused over the limit of lines, and not at it', async () => {
    const content = 'a,b\n1,2\n3,4\n'
    await expect(readBack(content, { maxLines: 1 })).rejects.toMatchObject({
      code: 'upload_too_many_lines',
      details: { limit: 1 },
    })
    expect((await readBack(content, { maxLines: 2 })).lines).toBe(2)
  })

  it('stop being read when asked to', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(readBack('a,b\n1,2\n', { signal })).rejects.toThrow('enough')
  })

  it('tell how far they are', async () => {
    const seen: object[] = []
    await readBack('a,b\n1,2\n3,4\n', { onProgress: (progress) => seen.push(progress) })
    expect(seen.at(-1)).toEqual({ bytes: 12, total: 12, lines: 2 })
  })
})

describe('A chunk written from rows', () => {
  it('reads like one from a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stagedoor-chunk-'))
    const path = join(folder, 'repair.csv')
    await writeChunk(
      path,
      ['a', 'b'],
      [
        { line: 7, values: ['x "y"\r\nz', null] },
        { line: 9, flaw: 'too_many_fields', extra: ['"3"'], values: ['1'] },
      ],
    )
    expect(await rowsOf({ chunks: [path], headers: ['a', 'b'] })).toEqual([
      { line: 7, flaw: '', extra: '', values: ['x "y"\nz', ''] },
      { line: 9, flaw: 'too_many_fields', extra: '["\\"3\\""]', values: ['1', ''] },
    ])
    await writeChunk(path, ['a', 'b'], [])
    expect(await rowsOf({ chunks: [path], headers: ['a', 'b'] })).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

describe('the head of a file', () => {
  it.each([7, 64, 1 << 18])('is whole lines, wherever a buffer of %i bytes ends', async (bufferBytes) => {
    const lines = Array.from({ length: 12 }, (_, n) => `${n},"Größe\r\n""${n}"""\r\n`)
    const content = Buffer.from(`\ufeffTitle\r\n\r\nid,size\r\n${lines.join('')}`)
    const whole = await readBack(content, { chunkLines: 5, bufferBytes } as object)
    expect(whole.head?.lines).toBe(5)
    const cut = await readBack(content.subarray(0, whole.head!.bytes))
    expect(cut.rows).toEqual(whole.rows.slice(0, 5))
    expect(cut).toMatchObject({ headers: whole.headers, headerLine: whole.headerLine, lines: 5 })
  })

  it('is not known of a file of one chunk, of another encoding, or packed', async () => {
    const text = `a,b\n${'1,é\n'.repeat(20)}`
    expect((await readBack(text, { chunkLines: 5 })).head).toEqual({ bytes: 29, lines: 5 })
    expect((await readBack(text)).head).toBeUndefined()
    const latin = Buffer.from(text, 'latin1')
    expect((await readBack(latin, { chunkLines: 5, encoding: 'iso-8859-1' })).head).toBeUndefined()
    expect((await readBack(gzipSync(text), { chunkLines: 5 })).head).toBeUndefined()
  })
})
