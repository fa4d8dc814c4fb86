/** Handlers whose work is one SQL function of one id: a job says which, and what the function answers is its result. */
import { FatalJobError, type JobContext } from '../handlers.ts'
import type { Job } from '../job.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type OfOneId =
  | 'fn_notify_reviewers'
  | 'fn_alerts_evaluate'
  | 'fn_iu_auto_instantiate_from_event'
  | 'fn_health_followup_review'
  | 'fn_unit_recompose'
  | 'fn_unit_axis_refresh'
  | 'fn_unit_link_refresh'

/** In one transaction with the completion: what it did and that it is done are committed together. */
export function answer(context: JobContext, name: OfOneId, id: string | null): Promise<void> {
  return context.transaction(async (client) => {
    const { rows } = await client.query<{ result: unknown }>(`select iu_core.${name}($1) as result`, [id])
    await context.complete(client, rows[0]!.result)
  })
}

/** What a consumer passes on as the event's subject. */
export function subjectOf(job: Job): string {
  return requireUuid(job.target_ref, 'subject, in target_ref')
}

export function requireUuid(value: string | null | undefined, what: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value
  throw new FatalJobError(`The job names no ${what}`)
}
