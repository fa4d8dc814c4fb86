/** Brings a database to this version: bootstrap, migrations, routines. Forward only, one migrator at a time. */
import type pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { assertSupported, withClient } from '../connection.ts'
import { refuseTransactionPooler } from '../open.ts'
import { assertMigrator, bootstrap, bootstrapStatements, HISTORY_EXISTS, rolesMissing } from './bootstrap.ts'
import { type Migration, type Routine, readSqlFiles, type SqlFiles } from './files.ts'
import { listOlderProcesses, type OlderProcess, splitMigrations } from './older-processes.ts'
import { applyRoutines, compareRoutines } from './routines.ts'

/** What `migrate` would do, or did. */
export interface MigrationPlan {
  /** Roles, memberships and schemas to create, as SQL. */
  readonly bootstrap: readonly string[]
  readonly migrations: readonly string[]
  /** Functions, procedures and views to create or replace, as `schema.name`. */
  readonly routines: readonly string[]
  readonly removed_routines: readonly string[]
  /** Migrations that take away what an older version uses: they wait until `older_processes` have stopped. */
  readonly waiting_migrations: readonly string[]
  /** Processes of an older version that work on the database. */
  readonly older_processes: readonly OlderProcess[]
}

interface MigrateOptions {
  readonly url: string
  readonly files?: SqlFiles
  /** Called with the name of each step before it runs. */
  readonly progress?: (step: string) => void
  /** Of this package; for tests. */
  readonly version?: string
}

/** The advisory lock of all migrators of one database. */
const LOCK = "hashtextextended('stagedoor.migrate', 0)"

export function isUpToDate(plan: MigrationPlan): boolean {
  return (
    plan.bootstrap.length +
      plan.migrations.length +
      plan.waiting_migrations.length +
      plan.routines.length +
      plan.removed_routines.length ===
    0
  )
}

export async function planMigration(options: MigrateOptions): Promise<MigrationPlan> {
  const files = options.files ?? readSqlFiles()
  return withClient(
    options.url,
    async (client) => {
      await assertSupported(client, options.url)
      await assertMigrator(client)
      return compare(client, files, options.version ?? VERSION)
    },
    { purpose: 'migrate' },
  )
}

/**
 * Throws `migration_waits` after everything else was done, where a migration would take away what a living process of an older version
 * uses: once those have stopped, `migrate` does the rest.
 */
export async function migrate(options: MigrateOptions): Promise<MigrationPlan> {
  const files = options.files ?? readSqlFiles()
  const progress = options.progress ?? (() => {})
  return withClient(
    options.url,
    async (client) => {
      await assertSupported(client, options.url)
      await assertMigrator(client)
      await refuseTransactionPooler(options.url)
      await takeLock(client, progress)
      if ((await bootstrapStatements(client)).length > 0) progress('roles and schemas')
      const prepared = await bootstrap(client)
      const plan = { ...(await compare(client, files, options.version ?? VERSION)), bootstrap: prepared }
      if (isUpToDate(plan)) return plan
      for (const migration of files.migrations.filter(({ name }) => plan.migrations.includes(name))) {
        progress(migration.name)
        await apply(client, migration)
      }
      progress('routines and views')
      await asOwner(client, async () => {
        await applyRoutines(client, files.routines, await compareRoutines(client, files.routines))
        await client.query(files.afterMigrate)
      })
      requireNoneWaits(plan)
      return plan
    },
    { purpose: 'migrate' },
  )
}

function requireNoneWaits({ waiting_migrations: waiting, older_processes: older }: MigrationPlan): void {
  if (waiting.length === 0) return
  const who = older.map(({ host, pid, version }) => `${host} process ${pid} version ${version}`)
  throw new StagedoorError('migration_waits', { migration: waiting.join(', '), processes: who.join('; ') })
}

async function takeLock(client: pg.Client, progress: (step: string) => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_lock(${LOCK}) as taken`)
  if (rows[0]!.taken) return
  progress('waiting for another migrator')
  await client.query(`select pg_advisory_lock(${LOCK})`)
}

async function compare(client: pg.Client, files: SqlFiles, version: string): Promise<MigrationPlan> {
  const statements = await bootstrapStatements(client)
  const { rows } = await client.query<{ there: boolean }>(`select ${HISTORY_EXISTS} as there`)
  if (!rows[0]!.there) {
    return {
      bootstrap: statements,
      migrations: files.migrations.map((migration) => migration.name),
      routines: files.routines.map(nameOf),
      removed_routines: [],
      waiting_migrations: [],
      older_processes: [],
    }
  }
  const pending = await pendingMigrations(client, files.migrations).catch(
    async (error: { code?: string }) => {
      throw error.code === '42501' ? await rolesMissing(client, statements, error) : error
    },
  )
  const changes = await asReader(client, () => compareRoutines(client, files.routines))
  const older = await asReader(client, () => listOlderProcesses(client, version))
  const { now, later } = splitMigrations(pending, older)
  return {
    bootstrap: statements,
    migrations: now.map(({ name }) => name),
    waiting_migrations: later.map(({ name }) => name),
    older_processes: older,
    routines: changes.changed.map(nameOf),
    removed_routines: changes.removed.map((routine) => `${routine.schema_name}.${routine.object_name}`),
  }
}

const nameOf = ({ schema, name }: Routine) => `${schema}.${name}`

/** The migrations still to apply. Refuses a history with an unknown or edited migration. */
async function pendingMigrations(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await asReader(client, () =>
    client.query<{ version: number; name: string; checksum: string }>(
      'select version, name, checksum from iu_core.schema_migration order by version',
    ),
  )
  for (const applied of rows) {
    const known = migrations.find((migration) => migration.version === applied.version)
    if (!known) throw new StagedoorError('migration_unknown', { migration: applied.name })
    if (known.checksum !== applied.checksum || known.name !== applied.name) {
      throw new StagedoorError('migration_edited', { migration: applied.name })
    }
  }
  const applied = new Set(rows.map((row) => row.version))
  return migrations.filter((migration) => !applied.has(migration.version))
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const started = performance.now()
  const record = () =>
    client.query(
      'insert into iu_core.schema_migration (version, name, checksum, duration_ms) values ($1, $2, $3, $4)',
      [migration.version, migration.name, migration.checksum, Math.round(performance.now() - started)],
    )
  try {
    if (migration.transactional) {
      await asOwner(client, async () => {
        await client.query(migration.sql)
        await record()
      })
    } else {
      await client.query('set role workflow_admin')
      // PostgreSQL runs several statements of one message as one transaction.
      for (const statement of migration.sql.split(/;[ \t]*$/m)) await client.query(statement)
      await record()
    }
  } catch (error) {
    if (error instanceof StagedoorError) throw error
    const { code, message } = error as { code?: string; message: string }
    // 42P07 relation, 42723 function, 42710 other object: it exists although the history does not have this migration.
    if (code === '42P07' || code === '42723' || code === '42710') {
      const object = `What ${migration.name} creates (${message})`
      throw new StagedoorError('foreign_object', { object }, { cause: error })
    }
    const hint =
      'This file runs outside of a transaction: the statements before the failing one stay. ' +
      'Remove the cause and migrate again; it then runs from its first statement.'
    throw new StagedoorError(
      'migration_failed',
      { file: migration.name, reason: message },
      { cause: error, ...(!migration.transactional && { hint }) },
    )
  } finally {
    await client.query('reset role').catch(() => {})
  }
}

async function asOwner(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin; set local role workflow_admin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Runs read-only as workflow_admin, which owns the history. A login that cannot SET ROLE to it cannot migrate either. */
async function asReader<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  try {
    await client.query('begin read only; set local role workflow_admin')
    return await work()
  } finally {
    await client.query('rollback')
  }
}
