import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { duckdbTool } from '../../src/app/tools/duckdb.ts'
import type { ToolContext } from '../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../src/kernel/json.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const home = temporaryHome('duckdb-tool')
const folder = join(home, 'files')
mkdirSync(folder)
const CSV = 'name,spend\nspring,10.5\nautumn,20\n'
writeFileSync(join(folder, 'week.csv'), CSV)
writeFileSync(join(folder, 'other.csv'), 'secret\n1\n')
writeFileSync(join(folder, 'a[1]*.csv'), 'n\n1\n')
writeFileSync(join(folder, 'more.jsonl'), '{"id": 9007199254740993, "tags": ["a"]}\n')
writeFileSync(join(home, 'outside.csv'), 'secret\n2\n')

const call = (args: JsonObject, context: Partial<ToolContext> = {}) =>
  duckdbTool(folder)(undefined, args, contextOf(context)) as Promise<Record<string, Json>>
const week = { files: { week: 'week.csv' } }

describe('a query', () => {
  it('reads the files by their names', async () => {
    expect(
      await call({
        ...week,
        query: 'select name, spend * 2 as twice from week where spend > $1',
        params: [15],
      }),
    ).toEqual({ rows: [{ name: 'autumn', twice: 40 }], row_count: 1 })
  })

  it('joins files of several kinds, and loses no digit', async () => {
    const files = { week: 'week.csv', more: 'more.jsonl' }
    const { rows } = await call({
      files,
      query: 'select m.id, m.tags, count(*) as n from week, more m group by all',
    })
    expect(rows).toEqual([{ id: '9007199254740993', tags: ['a'], n: '2' }])
  })

  it('needs no file', async () => {
    expect(await call({ query: `select date '2026-03-01' as d, 1.5 as exact` })).toMatchObject({
      rows: [{ d: '2026-03-01', exact: '1.5' }],
    })
  })

  it('gives no more rows than it may', async () => {
    expect((await call({ query: 'select * from range(10000)' })).row_count).toBe(10_000)
    await expect(call({ query: 'select * from range(1000000000)' })).rejects.toThrow('more than 10000 rows')
    await expect(call({ query: 'select * from range(3)', limit: 2 })).rejects.toThrow('more than 2 rows')
  })

  it('ends when it is aborted', async () => {
    const controller = new AbortController()
    const running = call(
      {
        query:
          'select count(*) from range(100000000) a, range(100000000) b where hash(a.range + b.range) = 1',
      },
      { signal: controller.signal },
    )
    setImmediate(() => controller.abort(new Error('over')))
    await expect(running).rejects.toThrow()
  })
})

describe('the door is shut', () => {
  it.each([
    ['another file of the folder', `select * from read_csv('${join(folder, 'other.csv')}')`],
    ['a file outside', `select * from '${join(home, 'outside.csv')}'`],
    ['a pattern', `select * from read_csv('${folder}/*.csv')`],
    ['a list of the folder', `select * from glob('${folder}/*')`],
    ['a file of the machine', `select * from read_text('/etc/passwd')`],
    ['the network', `select * from read_csv('https://example.com/a.csv')`],
    ['an extension', 'load httpfs'],
    ['an installation', 'install httpfs'],
    ['another database', `attach '${join(home, 'new.duckdb')}'`],
    ['a copy to a new file', `copy week to '${join(home, 'new.csv')}'`],
    ['a copy over the file that it reads', `copy (select 1) to '${join(folder, 'week.csv')}'`],
    ['a setting', 'set enable_external_access = true'],
    ['another setting', `set allowed_paths = ['/etc/passwd']`],
    ['a pragma', 'pragma enable_profiling'],
    ['a table', 'create table mine as select 1'],
    ['an export', `export database '${join(home, 'exported')}'`],
    ['two statements', `select 1; select 2`],
    ['the environment', `select getenv('PATH')`],
  ])('to %s', async (_, query) => {
    await expect(call({ ...week, query })).rejects.toMatchObject({ name: 'ToolError', retryable: false })
    expect(readFileSync(join(folder, 'week.csv'), 'utf8')).toBe(CSV)
    for (const name of ['new.duckdb', 'new.csv', 'exported']) expect(existsSync(join(home, name))).toBe(false)
  })

  it.each([
    ['a file outside', { week: '../outside.csv' }, 'is not a path below the folder of files'],
    ['a file of another kind', { week: 'week.exe' }, 'must be a csv, json, jsonl or parquet file'],
    ['a file that reads as a pattern', { week: 'a[1]*.csv' }, 'must be a path without'],
    ['no path', { week: 1 }, 'must be a path'],
  ])('to %s by name', async (_, files, message) => {
    await expect(call({ files, query: 'select 1' })).rejects.toThrow(message)
  })

  it('to more memory than it has', async () => {
    const query = `select count(distinct repeat(range::text, 20)) from range(20000000)`
    await expect(call({ query })).rejects.toThrow(/memory/i)
  })
})
