/** The handlers that every worker of ours has. Each calls the SQL that does the work; a worker of another language can do the same. */
import { FatalJobError, type JobContext, type JobHandlers } from '../handlers.ts'
import type { Job } from '../job.ts'
import { type WebhookOptions, webhookHandler } from '../webhooks.ts'
import { startPlaybook } from './playbook-start.ts'
import { cleanIdResolutions, cleanStagedRows, sweepStaging } from './retention.ts'

export interface BuiltInOptions {
  readonly webhooks: WebhookOptions
}

/** What the server runs by itself. */
export const BUILT_IN_KINDS: readonly string[] = Object.keys(builtInHandlers({ webhooks: { hosts: [] } }))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The kinds kg_link_refresh, iu_recompose_pieces and iu_axis_refresh are not among them: they belong to whoever keeps the units. */
export function builtInHandlers({ webhooks }: BuiltInOptions): JobHandlers {
  return {
    webhook_deliver: webhookHandler(webhooks),
    notify_reviewers: (job, context) => answer(context, 'fn_notify_reviewers', subjectOf(job)),
    alert_evaluate: (job, context) => {
      const [, client] = /^client:(.+)$/.exec(job.source_ref ?? '') ?? []
      return answer(
        context,
        'fn_alerts_evaluate',
        requireUuid(client, 'client, in source_ref as client:<id>'),
      )
    },
    auto_instantiate_from_template: (job, context) =>
      answer(
        context,
        'fn_iu_auto_instantiate_from_event',
        requireUuid(job.causation_event_id, 'event that it follows from'),
      ),
    health_followup_review: (job, context) => answer(context, 'fn_health_followup_review', subjectOf(job)),
    playbook_start: startPlaybook,
    staging_cleanup_sweep: sweepStaging,
    cleanup_staging_rows: cleanStagedRows,
    cleanup_staging_id_resolution: cleanIdResolutions,
  }
}

type OfOneId =
  | 'fn_notify_reviewers'
  | 'fn_alerts_evaluate'
  | 'fn_iu_auto_instantiate_from_event'
  | 'fn_health_followup_review'

/** In one transaction with the completion: what it did and that it is done are committed together. */
function answer(context: JobContext, name: OfOneId, id: string): Promise<void> {
  return context.transaction(async (client) => {
    const { rows } = await client.query<{ result: unknown }>(`select iu_core.${name}($1) as result`, [id])
    await context.complete(client, rows[0]!.result)
  })
}

/** What a consumer passes on as the event's subject. */
function subjectOf(job: Job): string {
  return requireUuid(job.target_ref, 'subject, in target_ref')
}

function requireUuid(value: string | null | undefined, what: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value
  throw new FatalJobError(`The job names no ${what}`)
}
