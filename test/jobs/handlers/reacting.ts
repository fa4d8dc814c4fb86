/** From an event to its handler: consumers activated as people would, dispatched when a test says so. */
import { beforeAll } from 'vitest'
import { builtInHandlers } from '../../../src/jobs/built-in-kinds.ts'
import type { JobHandlers } from '../../../src/jobs/handlers.ts'
import type { JobRecord } from '../../../src/jobs/queue.ts'
import { NOTE } from '../../events/consumers/registered.ts'
import type { TestDatabase } from '../../support/database.ts'
import { type TestJobs, useJobs } from '../worker/support.ts'

export const HANDLERS = builtInHandlers({ webhooks: { hosts: [] } })

export interface Reacting extends TestJobs {
  /** Dry run, review by somebody else than the registrant, activation. */
  activate(...consumers: string[]): Promise<void>
  /** Passes on what is in the outbox. Returns the jobs that came of it. */
  dispatch(): Promise<JobRecord[]>
  /** Dispatches, runs, and returns what became of the jobs. */
  react(handlers?: JobHandlers): Promise<JobRecord[]>
}

export function useReacting(db: TestDatabase): Reacting {
  const jobs = useJobs(db)
  beforeAll(async () => {
    await db.owner(`select iu_core.fn_gate_set('queue.consumer_dispatch.enabled', true)`)
    await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
    // Tests do not wait for more of the same.
    await db.owner(`update iu_core.job_kind set debounce = '1 millisecond' where key_mode = 'debounce'`)
  })
  const reacting: Reacting = {
    ...jobs,
    async activate(...consumers) {
      for (const consumer of consumers) {
        await db.owner('select iu_core.fn_consumer_dry_run($1)', [consumer])
        await db.owner(NOTE, [consumer])
        await db.owner('select iu_core.fn_consumer_review($1, 1)', [consumer])
        await db.owner('select iu_core.fn_consumer_activate($1)', [consumer])
      }
    },
    async dispatch() {
      const before = await idsIn(db)
      await db.pool('stagedoor_worker').query('select iu_core.fn_consumer_dispatch_batch()')
      const after = await idsIn(db)
      return Promise.all([...after].filter((id) => !before.has(id)).map((id) => jobs.find(id)))
    },
    async react(handlers = HANDLERS) {
      const made = await reacting.dispatch()
      const worker = await jobs.start(handlers, { pollMs: 20 })
      const done = await jobs.reached(
        'completed',
        made.map((job) => job.job_id),
      )
      await worker.stop()
      return done
    },
  }
  return reacting
}

async function idsIn(db: TestDatabase): Promise<Set<string>> {
  const rows = await db.owner<{ job_id: string }>('select job_id from iu_core.job_queue')
  return new Set(rows.map((row) => row.job_id))
}

/** One event, as a producer writes it. Returns its id. */
export async function emit(
  db: TestDatabase,
  domain: string,
  type: string,
  fields: { subject?: string; stream?: string; address?: string; workspace?: string } = {},
): Promise<string> {
  const { rows } = await db.pool('stagedoor_worker').query<{ id: string }>(
    `select iu_core.fn_event_emit($1, $2, p_event_stream => $3, p_event_subject_ref => $4, p_canonical_address => $5,
                                  p_workspace_id => $6) as id`,
    [
      domain,
      type,
      fields.stream ?? null,
      fields.subject ?? null,
      fields.address ?? null,
      fields.workspace ?? null,
    ],
  )
  return rows[0]!.id
}
