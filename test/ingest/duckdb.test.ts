import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  closeDuck,
  duckName,
  duckText,
  queryDuck,
  queryPrepared,
  retainDuck,
  runDuck,
  setDuckFolder,
} from '../../src/ingest/duckdb.ts'

const folder = mkdtempSync(join(tmpdir(), 'stagedoor-duck-'))
setDuckFolder(folder)
// Another file of this process may have left one open, in a folder of its own.
beforeAll(closeDuck)
afterAll(async () => {
  await closeDuck()
  rmSync(folder, { recursive: true, force: true })
})

describe('DuckDB in this process', () => {
  it('has one thread, bounded memory, no extensions to fetch and settings that no statement changes', async () => {
    const [settings] = await queryDuck(`SELECT current_setting('threads') AS threads,
      current_setting('memory_limit') AS memory, current_setting('autoload_known_extensions') AS autoload,
      current_setting('autoinstall_known_extensions') AS autoinstall, current_setting('TimeZone') AS zone`)
    expect(settings).toEqual({
      threads: '1',
      memory: '122.0 MiB',
      autoload: false,
      autoinstall: false,
      zone: 'UTC',
    })
    await expect(runDuck("SET memory_limit = '1GB'")).rejects.toThrow(/locked/)
  })

  it('loses no digit of a number and no character of a quoted text or name', async () => {
    const text = `it's "so"`
    expect(
      await queryDuck(
        `SELECT 120253000000000001 AS id, 0.10::DECIMAL(30,2) AS ${duckName('a "b"')}, ${duckText(text)} AS t`,
      ),
    ).toEqual([{ id: '120253000000000001', 'a "b"': '0.10', t: text }])
  })

  it('serves one caller while it works for another', async () => {
    const done: string[] = []
    const long = queryDuck('SELECT sum(hash(range)) FROM range(30000000)').then(() => done.push('long'))
    await queryDuck('SELECT 1').then(() => done.push('short'))
    await long
    expect(done).toEqual(['short', 'long'])
  })

  it('puts what does not fit into memory into its folder, removes it when it is closed, and opens again', {
    tags: 'long',
  }, async () => {
    await queryDuck('SELECT 1')
    expect(readdirSync(folder)).toEqual([])
    const spilling = 'SELECT range, hash(range) AS h FROM range(8000000) ORDER BY h'
    await runDuck(`CREATE TABLE sorted AS ${spilling}`)
    expect(readdirSync(folder)).toHaveLength(1)
    await closeDuck()
    expect(readdirSync(folder)).toEqual([])
    expect(await queryDuck('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('is closed by the last of those who hold it', async () => {
    const [first, second] = [retainDuck(folder), retainDuck(folder)]
    await runDuck('CREATE TABLE kept AS SELECT 1 AS one')
    await first()
    await first()
    expect(await queryDuck('FROM kept')).toEqual([{ one: 1 }])
    await second()
    await expect(queryDuck('FROM kept')).rejects.toThrow(/kept/)
  })

  it('answers statements that it has planned before, more of them than it keeps, all at once', async () => {
    const asked = Array.from({ length: 60 }, (_, at) => ({
      sql: `SELECT $1 || '${at % 12}' AS said`,
      text: `t${at} `,
    }))
    const answers = await Promise.all(
      asked.map(({ sql, text }) => queryPrepared<{ said: string }>(sql, text)),
    )
    expect(answers.map((rows) => rows[0]!.said)).toEqual(asked.map(({ text }, at) => `${text}${at % 12}`))
    await expect(queryPrepared('SELECT nothing($1)', '')).rejects.toThrow()
    await expect(queryPrepared('SELECT nothing($1)', '')).rejects.toThrow()
  })
})
