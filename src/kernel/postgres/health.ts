/** Checks whether a database is ready for this version, by one cheap query that runs often. */
import { createHash } from 'node:crypto'
import type { Queryable } from './connection.ts'
import { readSqlFiles } from './migrate/files.ts'

export interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** Fewer days of future partitions mean that the maintenance that creates them does not run. */
const MIN_PARTITION_DAYS = 30

/** Reads the shipped SQL once; the answer is compared with it at every check. */
export function createHealthProbe(): (db: Queryable) => Promise<HealthCheck[]> {
  const { migrations, routines } = readSqlFiles()
  const own = {
    newest: migrations.at(-1)!.version,
    // Those that contract may wait for processes of an older version.
    needed: migrations.filter(({ contracts }) => !contracts).length,
  }
  const expectedRoutines = digest(routines.map(({ schema, name, hash }) => `${schema}.${name} ${hash}`))
  return async (db) => {
    const { rows } = await db.query<{
      migration_version: number
      migration_count: number
      contract_version: number | null
      routines_digest: string | null
      partition_days_left: number | null
      history_days_left: number | null
      execution_days_left: number | null
    }>(
      `select migration_version, migration_count, contract_version, routines_digest, partition_days_left, history_days_left, execution_days_left
         from iu_core.fn_health()`,
    )
    const found = rows[0]!
    const tookAway = (found.contract_version ?? 0) > own.newest
    // In an upgrade one by one: a newer version has migrated, and took nothing away that this one uses.
    const newer = found.migration_version > own.newest && !tookAway
    const current =
      found.migration_count >= own.needed && found.routines_digest === expectedRoutines && !tookAway
    const waiting = migrations.length - found.migration_count
    return [
      { name: 'database', ok: true, detail: 'answers' },
      {
        name: 'migrations',
        ok: current || newer,
        detail: newer
          ? 'a newer version has migrated the database: upgrade this process, too'
          : current
            ? `${found.migration_count} applied, routines current${waiting > 0 ? `; ${waiting} wait until older processes have stopped: run stagedoor migrate then` : ''}`
            : tookAway
              ? 'a newer version has taken away what this one uses: upgrade this process'
              : `${found.migration_count} of ${migrations.length} applied or routines differ: run stagedoor migrate`,
      },
      partitions('event_partitions', found.partition_days_left ?? 0),
      partitions('job_partitions', found.history_days_left ?? 0),
      partitions('execution_partitions', found.execution_days_left ?? 0),
    ]
  }
}

export interface TableSize {
  readonly schema_name: string
  readonly table_name: string
  readonly bytes: number
  readonly row_estimate: number
}

/** How much room the database takes, and its largest tables. For whoever administers all workspaces. */
export async function readStorage(db: Queryable): Promise<{ database_bytes: number; tables: TableSize[] }> {
  const { rows } = await db.query<TableSize & { database_bytes: number }>(
    `select database_bytes::float8, schema_name, table_name, bytes::float8, row_estimate::float8 from iu_core.fn_storage()`,
  )
  return {
    database_bytes: rows[0]!.database_bytes,
    tables: rows.map(({ database_bytes: _, ...table }) => table),
  }
}

function partitions(name: string, days: number): HealthCheck {
  return { name, ok: days >= MIN_PARTITION_DAYS, detail: `partitions exist for the next ${days} days` }
}

function digest(lines: string[]): string {
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}
