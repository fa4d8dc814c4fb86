/** Upgrades one by one: what a migration takes away waits until no process of an older version lives, the rest goes on. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withClient } from '../../../../src/kernel/postgres/connection.ts'
import { createHealthProbe } from '../../../../src/kernel/postgres/health.ts'
import { type Migration, readSqlFiles } from '../../../../src/kernel/postgres/migrate/files.ts'
import { isUpToDate, migrate, planMigration } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { isOlder, splitMigrations } from '../../../../src/kernel/postgres/migrate/older-processes.ts'
import { type BareDatabase, useDatabases } from '../../../support/empty-database.ts'
import { editedSql } from './sql-copy.ts'

const createDatabase = useDatabases()
const next = readSqlFiles().migrations.length + 1
const file = (offset: number, name: string) =>
  `migrations/${String(next + offset).padStart(4, '0')}_${name}.sql`

/** A version that takes a table away and adds another, in this order. */
const newer = () =>
  editedSql({
    [file(0, 'contract_old')]: '-- stagedoor: contract\ndrop table if exists iu_core.old_things',
    [file(1, 'more')]: 'create table iu_core.more (id int)',
  })

const enter = (database: BareDatabase, version: string, agoS = 0) =>
  database.superuser(
    `insert into iu_core.process (process_id, host, pid, version, roles, seen_at)
     values (gen_random_uuid(), 'elsewhere', 77, $1, '{worker}', clock_timestamp() - make_interval(secs => $2))`,
    [version, agoS],
  )

const hasMore = async (database: BareDatabase) =>
  (
    await database.superuser<{ there: boolean }>(`select to_regclass('iu_core.more') is not null as there`)
  )[0]!.there

async function migrationsCheck(database: BareDatabase) {
  const checks = await withClient(database.url, createHealthProbe(), { role: 'dot_executor' })
  return checks.find(({ name }) => name === 'migrations')!
}

it('a contracting migration waits for older processes, what follows it does not', async () => {
  const database = await createDatabase('migrated')
  await database.superuser('create table iu_core.old_things (id int)')
  await enter(database, '0.1.0')
  const options = { url: database.url, files: newer(), version: '0.2.0' }
  expect(await planMigration(options)).toMatchObject({
    migrations: [expect.stringMatching(/_more$/)],
    waiting_migrations: [expect.stringMatching(/_contract_old$/)],
    older_processes: [{ host: 'elsewhere', pid: 77, version: '0.1.0', roles: ['worker'] }],
  })
  expect(await hasMore(database)).toBe(false)
  for (let times = 0; times < 2; times++) {
    await expect(migrate(options)).rejects.toMatchObject({
      code: 'migration_waits',
      message: expect.stringMatching(/_contract_old waits.*elsewhere process 77 version 0\.1\.0/),
      exitCode: 6,
    })
    expect(await hasMore(database)).toBe(true)
  }
  await database.superuser('select from iu_core.old_things')
  // The old version goes on, and counts as ready: nothing that it uses is gone.
  expect(await migrationsCheck(database)).toMatchObject({
    ok: true,
    detail: expect.stringContaining('a newer version has migrated'),
  })
  await database.superuser('delete from iu_core.process')
  expect(await migrate(options)).toMatchObject({
    migrations: [expect.stringMatching(/_contract_old$/)],
    waiting_migrations: [],
  })
  expect(isUpToDate(await planMigration(options))).toBe(true)
  expect(await migrationsCheck(database)).toMatchObject({ ok: false })
})

it('processes of this or a newer version, and silent ones, hold nothing up', async () => {
  const database = await createDatabase('migrated')
  await enter(database, '0.2.0')
  await enter(database, '0.3.0-rc.1')
  await enter(database, '0.1.0', 30)
  const done = await migrate({ url: database.url, files: newer(), version: '0.2.0' })
  expect(done).toMatchObject({ older_processes: [], waiting_migrations: [] })
  expect(done.migrations).toHaveLength(2)
})

it('expanding migrations go on beside older processes, which are listed', async () => {
  const database = await createDatabase('migrated')
  await enter(database, '0.1.9')
  const files = editedSql({ [file(0, 'more')]: 'create table iu_core.more (id int)' })
  expect(await migrate({ url: database.url, files, version: '0.2.0' })).toMatchObject({
    migrations: [expect.stringMatching(/_more$/)],
    older_processes: [{ host: 'elsewhere', version: '0.1.9' }],
  })
})

it('the header and the name of a contracting migration belong together', () => {
  expect(() => editedSql({ [file(0, 'old')]: '-- stagedoor: contract\nselect 1' })).toThrow(
    /_contract_its_name/,
  )
  expect(() => editedSql({ [file(0, 'contract_old')]: 'select 1' })).toThrow(/_contract_its_name/)
  expect(() => editedSql({ [file(0, 'old')]: '-- stagedoor: kontract\nselect 1' })).toThrow(/does not say/)
  const files = editedSql({
    [file(0, 'contract_old')]: '-- stagedoor: contract\n-- stagedoor: no transaction\nselect 1',
  })
  expect(files.migrations.at(-1)).toMatchObject({ contracts: true, transactional: false })
})

describe('versions', () => {
  const part = fc.nat(30)
  const preview = fc.constantFrom('', '-rc.1', '-rc.2', '-alpha', '-1', '-rc.1.1')
  const version = fc.tuple(part, part, part, preview).map(([a, b, c, d]) => `${a}.${b}.${c}${d}`)

  it('are in one order: never both older, and older than what is newer', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(isOlder(a, a)).toBe(false)
        expect(isOlder(a, b) && isOlder(b, a)).toBe(false)
        if (a !== b) expect(isOlder(a, b) || isOlder(b, a)).toBe(true)
        if (isOlder(a, b) && isOlder(b, c)) expect(isOlder(a, c)).toBe(true)
      }),
    )
  })

  it.each([
    ['0.1.9', '0.1.10'],
    ['0.9.0', '1.0.0'],
    ['0.2.0-rc.1', '0.2.0'],
    ['0.2.0-rc.2', '0.2.0-rc.10'],
    ['0.1.0', '0.2.0-rc.1'],
    ['unknown', '0.1.0'],
    ['', '0.1.0'],
  ])('%s is older than %s', (older, newerOne) => {
    expect(isOlder(older, newerOne)).toBe(true)
    expect(isOlder(newerOne, older === 'unknown' || older === '' ? newerOne : older)).toBe(false)
  })

  it('no older process: all now, in order; else every contraction waits and nothing else does', () => {
    const migration = fc.boolean().map((contracts) => ({ contracts }) as Migration)
    const process = { host: 'h', pid: 1, version: '0.1.0', roles: [] }
    fc.assert(
      fc.property(fc.array(migration), fc.nat(3), (pending, older) => {
        const { now, later } = splitMigrations(pending, Array(older).fill(process))
        expect(now.filter(({ contracts }) => contracts && older > 0)).toEqual([])
        expect(later.every(({ contracts }) => contracts && older > 0)).toBe(true)
        expect([...now, ...later]).toHaveLength(pending.length)
        expect(pending.filter((one) => now.includes(one))).toEqual(now)
      }),
    )
  })
})
