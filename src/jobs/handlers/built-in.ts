/** The handlers that every worker of ours has. Each calls the SQL that does the work; a worker of another language can do the same. */
import type { JobHandlers } from '../handlers.ts'
import { type WebhookOptions, webhookHandler } from '../webhooks.ts'
import { answer, requireUuid, subjectOf } from './answer.ts'
import { startPlaybook } from './playbook-start.ts'
import { cleanIdResolutions, cleanStagedRows, sweepStaging } from './retention.ts'
import { unitHandlers } from './units.ts'

export interface BuiltInOptions {
  readonly webhooks: WebhookOptions
}

/** What the server runs by itself. */
export const BUILT_IN_KINDS: readonly string[] = Object.keys(builtInHandlers({ webhooks: { hosts: [] } }))

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
    ...unitHandlers,
    playbook_start: startPlaybook,
    staging_cleanup_sweep: sweepStaging,
    cleanup_staging_rows: cleanStagedRows,
    cleanup_staging_id_resolution: cleanIdResolutions,
  }
}
