/** What an upload needs besides its file: tables, a dataset, a client, limits that let a million lines through. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  backEndActor,
  createPool,
  type IngestOptions,
  ingest,
  inTransaction,
  registerPack,
} from '../product.ts'
import type { BenchDatabase } from '../server.ts'
import { writeMetaExport } from './exports.ts'

export interface World {
  readonly home: string
  readonly file: string
  readonly workspace: string
  readonly client: string
  readonly pool: ReturnType<typeof createPool>
  end(): Promise<void>
}

/** A person's approval takes as long as a person takes, so the dataset asks for none. */
export async function openWorld(
  database: BenchDatabase,
  lines: number,
  seed: number,
  checksInBulk = false,
): Promise<World> {
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-bench-ingest-'))
  const administration = createPool(database.url, { role: 'workflow_admin', max: 1 })
  const { workspace, client } = await inTransaction(administration, async (session) => {
    await session.query(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    await allowBulkChecks(session, checksInBulk)
    await registerPack(session, 'ads')
    await session.query('update iu_core.ingest_dataset set approval_required = false')
    await session.query('select iu_core.fn_ingest_limit_set(null, 10000000000, 10000000, 3)')
    const made = await session.query(
      `with w as (insert into public.workspaces (name) values ('Acme') returning id)
       insert into public.clients (workspace_id, name) select id, 'Northwind' from w returning workspace_id, id`,
    )
    return { workspace: made.rows[0].workspace_id as string, client: made.rows[0].id as string }
  })
  await administration.end()
  const file = join(home, 'meta-week-46.csv')
  writeMetaExport(file, { lines, seed })
  const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 4 })
  return {
    home,
    file,
    workspace,
    client,
    pool,
    async end() {
      await pool.end()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** What an administrator does for foreign keys that are checked at once; the embedded server does it by itself. */
export async function allowBulkChecks(
  session: { query(sql: string, values?: unknown[]): Promise<unknown> },
  isAllowed: boolean,
): Promise<void> {
  if (isAllowed)
    await session.query(
      'set role none; grant set on parameter session_replication_role to workflow_admin; set role workflow_admin',
    )
  await session.query(`select iu_core.fn_gate_set('iu_core.bulk_reference_checks_enabled', $1)`, [isAllowed])
}

/** The call that CLI, HTTP, library and playbook tool make, too. */
export async function ingestExport(
  world: Pick<World, 'pool' | 'home' | 'file' | 'workspace' | 'client'>,
  until: IngestOptions['until'],
  onEvent?: IngestOptions['onEvent'],
) {
  const { pool, home, file, workspace, client } = world
  const { upload, stopped } = await ingest({ pool, home }, file, {
    dataset: 'ads',
    platform: 'meta',
    workspaceId: workspace,
    clientId: client,
    actor: backEndActor(pool),
    until,
    onEvent,
  })
  if (stopped) throw stopped
  return upload
}
