/** Who works on a database: workers of jobs, engines of executions, workers behind gateways, and who leads what. */
import { listRegisteredEngines } from '../executions/queries.ts'
import { Engine } from '../executions/shapes.ts'
import { JobWorker } from '../jobs/shapes.ts'
import { listWorkers } from '../jobs/statistics.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  columnsOf,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  TimestampOrNull,
  Type,
} from '../kernel/schema.ts'

const RemoteWorker = shape('RemoteWorker', {
  session: Text,
  name: Text,
  host: Text,
  pid: Type.Integer(),
  version: Text,
  pool: Type.String({ description: 'the kinds of jobs and the handlers that it offers, by a short digest' }),
  gateway_process: Type.String({ description: 'the process that hands calls to it' }),
  gateway_host: TextOrNull,
  concurrency: Type.Integer({ description: 'calls at once' }),
  held: Type.Integer({ description: 'calls that it runs now' }),
  oldest_call_at: TimestampOrNull,
  attached_at: Timestamp,
  seen_at: Timestamp,
})
export type RemoteWorker = Row<typeof RemoteWorker>

const Leader = shape('Leader', {
  name: Type.String({ description: 'the work that one process of all does' }),
  host: Text,
  pid: Type.Integer(),
  since: Timestamp,
  leased_until: Timestamp,
})
export type Leader = Row<typeof Leader>

export const WhoWorks = shape('WhoWorks', {
  workers: Type.Array(JobWorker),
  engines: Type.Array(Engine),
  remote_workers: Type.Array(RemoteWorker, { description: 'workers without a database, behind gateways' }),
  leaders: Type.Array(Leader),
})
export type WhoWorks = Row<typeof WhoWorks>

/** For whoever operates a workspace. Of the running jobs the caller sees those of their workspaces. */
export async function listWhoWorks(db: Queryable): Promise<WhoWorks> {
  return {
    workers: await listWorkers(db),
    engines: await listRegisteredEngines(db),
    remote_workers: (
      await db.query<RemoteWorker>(`select ${columnsOf(RemoteWorker)} from iu_core.fn_remote_workers()`)
    ).rows,
    leaders: (await db.query<Leader>(`select ${columnsOf(Leader)} from iu_core.fn_leaders()`)).rows,
  }
}
