/** An executor outside Node, as the tests play it. */
import { signToken } from '../../../src/access/tokens.ts'
import { SECRET, type TestApi } from '../../support/api.ts'
import type { TestDatabase } from '../../support/database.ts'

export interface LeasedJob {
  readonly job_id: string
  readonly lease_epoch: number
  readonly job_kind: string
  readonly priority: number
  readonly attempts: number
  readonly payload: Record<string, unknown>
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body & { code?: string; hint?: string; detail?: string }
}

export function executorToken(executor: string, subject = `executor:${executor}`): Promise<string> {
  return signToken(SECRET, { subject, role: 'stagedoor_executor', expiresIn: '1h', executor })
}

export function serviceToken(): Promise<string> {
  return signToken(SECRET, { subject: 'service', role: 'service_role', expiresIn: '1h' })
}

/** One that registered and has a lease. */
export async function beginWorker(
  api: TestApi,
  token: string,
  terms: { executor: string; kinds: string[]; lease_s?: number },
) {
  const begun = await api.post('/api/v1/workers', token, terms)
  const { worker } = begun.body as { worker: string }
  const say = (what: string, body: object = {}, as = token) =>
    api.post(`/api/v1/workers/${worker}/${what}`, as, body) as Promise<Answer<object>>
  return {
    worker,
    begun,
    say,
    async lease(
      body: { limit?: number; wait_s?: number; begin?: number; held?: number } = {},
    ): Promise<LeasedJob[]> {
      const answer = await say('claim', body)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return (answer.body as { jobs: LeasedJob[] }).jobs
    },
    async leave() {
      const reply = await api.app.inject({
        method: 'DELETE',
        url: `/api/v1/workers/${worker}`,
        headers: { authorization: `Bearer ${token}` },
      })
      return reply.statusCode
    },
  }
}

/** As when the lease has passed and somebody noticed it: no test waits for that. */
export async function endLease(db: TestDatabase, worker: string): Promise<void> {
  await db
    .pool('postgres')
    .query(
      `update iu_core.job_worker set leased_until = clock_timestamp() - interval '1 second' where worker_id = $1`,
      [worker],
    )
  await db.pool('stagedoor_worker').query('select iu_core.fn_job_reap()')
}

export async function enqueue(
  db: TestDatabase,
  kind: string,
  executor = 'external_worker',
  more: { workspace?: string; priority?: number; payload?: object } = {},
): Promise<string> {
  const job = {
    job_kind: kind,
    executor,
    priority: more.priority ?? 0,
    safe_payload: more.payload ?? {},
    ...(more.workspace !== undefined && { workspace_id: more.workspace }),
  }
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>('select id from iu_core.fn_job_enqueue_batch($1) as id', [JSON.stringify([job])])
  return rows[0]!.id
}

export async function stateOf(db: TestDatabase, id: string): Promise<string> {
  const [row] = await db.owner<{ state: string }>(
    `select coalesce(
       (select case when leased_by is null then 'waiting' else 'running' end from iu_core.job_queue where job_id = $1),
       (select outcome from iu_core.job_history where job_id = $1),
       (select 'dead' from iu_core.job_dead_letter where job_id = $1), 'nowhere') as state`,
    [id],
  )
  return row!.state
}
