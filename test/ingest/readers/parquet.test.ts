import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck, duckText, runDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

async function parquet(select: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-parquet-'))
  const path = join(folder, 'file.parquet')
  await runDuck(`COPY (${select}) TO ${duckText(path)} (FORMAT parquet)`)
  const bytes = readFileSync(path)
  rmSync(folder, { recursive: true })
  return bytes
}

describe('Parquet', () => {
  it('comes back as text: dates in ISO, decimals exact, large ids whole, structs as dotted names, lists as JSON', async () => {
    const bytes = await parquet(`
      SELECT 120253000000000001::BIGINT AS id, 0.10::DECIMAL(20,2) AS cost, DATE '2024-02-29' AS day,
        TIMESTAMP '2024-01-02 03:04:05' AS at, TIMESTAMP '2024-01-02 03:04:05.25' AS finer,
        TIMESTAMPTZ '2024-01-02 03:04:05+00' AS zoned, NULL::INTEGER AS nothing, true AS yes,
        {'a': 1, 'b': {'c': 'x', 'd': [TIMESTAMP '2024-01-02 03:04:05']}} AS nested, [1, 2] AS list, 'x "y"' || chr(13) || chr(10) || 'z' AS " text "`)
    const file = await readBack(bytes)
    expect(file).toMatchObject({ format: 'parquet', lines: 1 })
    expect(file.headers).toEqual(
      'id cost day at finer zoned nothing yes nested.a nested.b.c nested.b.d list text'.split(' '),
    )
    expect(file.rows).toEqual([
      {
        line: 1,
        flaw: '',
        extra: '',
        values: [
          '120253000000000001',
          '0.10',
          '2024-02-29',
          '2024-01-02T03:04:05',
          '2024-01-02T03:04:05.250000',
          '2024-01-02T03:04:05Z',
          '',
          'true',
          '1',
          'x',
          '["2024-01-02 03:04:05"]',
          '[1,2]',
          'x "y"\nz',
        ],
      },
    ])
  })

  it('is split into chunks, with the record’s number as its line', async () => {
    const bytes = await parquet('SELECT range AS n FROM range(25)')
    const { chunks, rows } = await readBack(bytes, { chunkLines: 10 })
    expect(chunks).toHaveLength(3)
    expect(rows.map((row) => [row.line, Number(row.values[0])])).toEqual(
      Array.from({ length: 25 }, (_, index) => [index + 1, index]),
    )
  })

  it('may have structs that are empty, and names that only differ in their place', async () => {
    const bytes = await parquet(
      `SELECT * FROM (VALUES ({'id': 1, 'a.b': 'x'}, 2), (NULL, 3)) AS t(campaign, id)`,
    )
    const { headers, rows } = await readBack(bytes)
    expect(headers).toEqual(['campaign.id', 'campaign.a.b', 'id'])
    expect(rows.map(({ values }) => values)).toEqual([
      ['1', 'x', '2'],
      ['', '', '3'],
    ])
  })

  it('may have a column with the name that DuckDB counts records by', async () => {
    const bytes = await parquet('SELECT 100 - range AS file_row_number FROM range(25)')
    const { headers, rows } = await readBack(bytes, { chunkLines: 10 })
    expect(headers).toEqual(['file_row_number'])
    expect(rows.map((row) => [row.line, row.values[0]])).toEqual(
      Array.from({ length: 25 }, (_, index) => [index + 1, String(100 - index)]),
    )
  })

  it('may have 500 columns', { tags: 'long' }, async () => {
    const columns = Array.from({ length: 500 }, (_, index) => `'v' || range AS c${index}`)
    const { rows, chunks } = await readBack(await parquet(`SELECT ${columns.join(', ')} FROM range(3000)`))
    expect(chunks).toHaveLength(2)
    expect(rows).toHaveLength(3000)
    expect(rows[2999]).toMatchObject({ line: 3000, flaw: '' })
    expect(new Set(rows[2999]!.values)).toEqual(new Set(['v2999']))
  })

  it('with a NUL in a text has a flawed record', async () => {
    const { rows } = await readBack(await parquet("SELECT 'a' || chr(0) || 'b' AS t UNION ALL SELECT 'c'"))
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['nul_character', 'ab'],
      ['', 'c'],
    ])
  })

  it('with a record of more than a mebibyte has it cut', async () => {
    const { rows } = await readBack(
      await parquet("SELECT repeat('x', 3000000) AS t, 1 AS n UNION ALL SELECT 'y', 2"),
    )
    expect(rows.map((row) => [row.flaw, row.values[0]!.length, row.values[1]])).toEqual([
      ['line_too_long', 1000, '1'],
      ['', 1, '2'],
    ])
  })

  it('without rows, cut off, or with too many rows is refused', async () => {
    const whole = await parquet('SELECT range AS n FROM range(25)')
    await expect(readBack(await parquet('SELECT 1 AS n WHERE false'))).rejects.toMatchObject({
      code: 'file_has_no_rows',
    })
    await expect(readBack(whole.subarray(0, -20))).rejects.toMatchObject({ code: 'file_unreadable' })
    await expect(readBack(whole, { maxLines: 24 })).rejects.toMatchObject({ code: 'upload_too_many_lines' })
  })
})
