/** The queue through its SQL functions, as any language would call them. */
import type { TestDatabase } from '../support/database.ts'

export interface Lease {
  readonly worker: string
  readonly job: string
  readonly epoch: number
}

export interface JobRow {
  readonly job_id: string
  readonly job_kind: string
  readonly lease_epoch: number
  readonly attempts: number
  readonly priority: number
}

/** Beyond every backoff. */
export const MUCH_LATER = new Date('2100-01-01T00:00:00Z')

export function queueDriver(db: TestDatabase) {
  const rows = async <R>(sql: string, values: unknown[] = []): Promise<R[]> =>
    (await db.pool('stagedoor_worker').query(sql, values)).rows as R[]
  const one = async <R>(sql: string, values: unknown[] = []): Promise<R> =>
    Object.values((await rows<Record<string, unknown>>(sql, values))[0]!)[0] as R
  return {
    rows,
    one,
    enqueue: (kind: string, key: string | null = null, priority = 0): Promise<string> =>
      one('select iu_core.fn_job_enqueue($1, $2, p_priority => $3::smallint)', [kind, key, priority]),
    register: (kinds: string[], executor = 'PG_worker'): Promise<string> =>
      one(`select iu_core.fn_job_worker_register($2, $1, null, '1 hour')`, [kinds, executor]),
    claim: (worker: string, limit = 100, now: Date | null = null): Promise<JobRow[]> =>
      rows('select * from iu_core.fn_job_claim($1, $2, null, $3)', [worker, limit, now]),
    complete: async (...leases: Lease[]): Promise<string[]> =>
      (
        await rows<{ id: string }>('select id from iu_core.fn_job_complete($1, $2, $3) id', [
          leases[0]!.worker,
          leases.map((lease) => lease.job),
          leases.map((lease) => lease.epoch),
        ])
      ).map((row) => row.id),
    fail: async (lease: Lease, fatal = false): Promise<string | undefined> =>
      (
        await rows<{ outcome: string }>(
          `select outcome from iu_core.fn_job_fail($1, array[$2::uuid], array[$3::integer], array['it broke'], array[$4::boolean])`,
          [lease.worker, lease.job, lease.epoch, fatal],
        )
      )[0]?.outcome,
    snooze: (lease: Lease): Promise<boolean> =>
      one('select iu_core.fn_job_snooze($1, $2, $3, $4)', [
        lease.worker,
        lease.job,
        lease.epoch,
        new Date('2050-01-01T00:00:00Z'),
      ]),
    release: (lease: Lease): Promise<number> =>
      one('select iu_core.fn_job_release($1, array[$2::uuid], array[$3::integer])', [
        lease.worker,
        lease.job,
        lease.epoch,
      ]),
    cancel: (job: string): Promise<string> => one('select iu_core.fn_job_cancel($1)', [job]),
    replay: (job: string): Promise<string[]> => rows('select iu_core.fn_job_replay(array[$1::uuid])', [job]),
    /** The lease runs out: as if no heartbeat of the worker had come for its length. */
    async expire(worker: string): Promise<void> {
      await db.owner(
        `update iu_core.job_worker set leased_until = now() - interval '1 second' where worker_id = $1`,
        [worker],
      )
    },
    reap: (): Promise<number> => one('select iu_core.fn_job_reap()'),
    leasesOf: (worker: string, jobs: readonly JobRow[]): Lease[] =>
      jobs.map((job) => ({ worker, job: job.job_id, epoch: job.lease_epoch })),
  }
}
