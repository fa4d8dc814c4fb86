/** The embedded database, opened by several at once and by those who only look. */
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { readConfig } from '../../../src/kernel/config.ts'
import { withClient } from '../../../src/kernel/postgres/connection.ts'
import { type Database, type OpenOptions, openDatabase } from '../../../src/kernel/postgres/open.ts'
import { cases } from '../../support/length.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const folder = temporaryHome('open')
const config = (name = 'home') => readConfig({}, { home: join(folder, name) })
const opened: Database[] = []

async function open(options: OpenOptions, name?: string): Promise<Database> {
  const database = await openDatabase(config(name), options)
  opened.push(database)
  return database
}
const run = async (database: Database, sql: string): Promise<unknown[]> =>
  (await withClient(database.directUrl, (client) => client.query(sql), { role: 'workflow_admin' })).rows

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

const LIMIT = 180_000

it('several commands at once take turns: each has the database until it closes it', {
  tags: 'property',
  timeout: LIMIT,
}, async () => {
  const notices: string[] = []
  const command = async (): Promise<unknown> => {
    const database = await open({
      share: true,
      homeTimeoutMs: LIMIT,
      notice: (line) => notices.push(line),
    })
    // If another one's end stopped the server under us, the second would fail.
    await run(database, 'select 1')
    await run(database, 'select iu_core.fn_health()')
    return database.close()
  }
  await Promise.all(Array.from({ length: cases(2, 4) }, command))
  expect(notices.filter((line) => line.includes(`process ${process.pid}`)).length).toBeGreaterThan(0)
})

it('a command waits for the home only so long, and start does not wait at all', {
  timeout: LIMIT,
}, async () => {
  await open({ share: true })
  const inUse = { code: 'home_in_use', exitCode: 9, details: { pid: process.pid } }
  await expect(open({ share: true, homeTimeoutMs: 300 })).rejects.toMatchObject(inUse)
  await expect(open({ share: false })).rejects.toMatchObject(inUse)
})

it('what start runs is shared with commands, whose end does not end it', { timeout: LIMIT }, async () => {
  const serving = await open({ share: false })
  const commands = await Promise.all([open({ share: true }), open({ share: true })])
  for (const command of commands) {
    expect(command.directUrl).toBe(serving.directUrl)
    await command.close()
  }
  expect(await run(serving, 'select 1 as one')).toEqual([{ one: 1 }])
  await serving.close()
  // Nobody's any more: a command brings its own again.
  expect(await run(await open({ share: true }), 'select 1 as one')).toEqual([{ one: 1 }])
})

it('whoever only looks finds the database as it was left; others find it repaired', {
  timeout: LIMIT,
}, async () => {
  const drift = 'drop function iu_core.fn_event_partition_days_left()'
  const remains = `select to_regprocedure('iu_core.fn_event_partition_days_left()') is not null as there`
  const first = await open({ share: true })
  await run(first, drift)
  await first.close()
  const looking = await open({ share: true, prepare: false })
  expect(await run(looking, remains)).toEqual([{ there: false }])
  await looking.close()
  expect(await run(await open({ share: true }), remains)).toEqual([{ there: true }])
})

it('a home that never had a database gets one, also from those who only look', {
  timeout: LIMIT,
}, async () => {
  const looking = await open({ share: true, prepare: false }, 'new')
  expect(await run(looking, 'select count(*) > 0 as migrated from iu_core.schema_migration')).toEqual([
    { migrated: true },
  ])
})
