/** The handlers that every worker of ours has. Each calls the SQL that does the work; a worker in another language can do the same. */
import { UUID } from '../kernel/ids.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { FatalJobError, type JobContext, type JobHandler, type JobHandlers } from './handlers.ts'
import type { Job } from './queue.ts'
import { type WebhookOptions, webhookHandler } from './webhooks.ts'

interface BuiltInOptions {
  readonly webhooks: WebhookOptions
}

export function builtInHandlers({ webhooks }: BuiltInOptions): JobHandlers {
  return {
    webhook_deliver: webhookHandler(webhooks),
    notify_reviewers: (job, context) => callFunction(context, 'fn_notify_reviewers', subjectOf(job)),
    alert_evaluate: (job, context) => {
      const [, client] = /^client:(.+)$/.exec(job.source_ref ?? '') ?? []
      return callFunction(
        context,
        'fn_alerts_evaluate',
        requireUuid(client, 'client, in source_ref as client:<id>'),
      )
    },
    auto_instantiate_from_template: (job, context) =>
      callFunction(
        context,
        'fn_iu_auto_instantiate_from_event',
        requireUuid(job.causation_event_id, 'event that it follows from'),
      ),
    health_followup_review: (job, context) =>
      callFunction(context, 'fn_health_followup_review', subjectOf(job)),
    ...unitHandlers,
    playbook_start: startPlaybook,
    staging_cleanup_sweep: sweepStaging,
    cleanup_staging_rows: cleanStagedRows,
    cleanup_staging_id_resolution: cleanIdResolutions,
  }
}

/** Their names. */
export function builtInKinds(): string[] {
  return Object.keys(builtInHandlers({ webhooks: { hosts: [] } }))
}

/**
 * The kind playbook_start: an event, or a schedule, starts a playbook. In one transaction with the completion, and once for each job: the execution's key is the job's id. It follows from the
 * event that the job came from. Of that event the playbook gets what its args name: event_id, event_type, subject, payload.
 */
export function startPlaybook(job: Job, context: JobContext): Promise<void> {
  const playbook = playbookOf(job)
  return context.transaction(async (client) => {
    const args = { ...(await eventArgs(client, job, playbook)), ...givenArgs(job) }
    const { rows } = await client.query<{ id: string }>(
      'select noetl.fn_execution_start($1, $2, $3, null, $4)::text as id',
      [playbook, JSON.stringify(args), job.workspace_id, `job:${job.job_id}`],
    )
    await context.complete(client, { execution_id: rows[0]!.id, playbook })
  })
}

/**
 * A consumer says it as its payload_ref_template, `playbook:<name>`; a schedule or a program in payload.
 */
function playbookOf({ payload_ref, payload }: Job): string {
  const [, named] = /^playbook:(.+)$/.exec(payload_ref ?? '') ?? []
  const name = named ?? payload.playbook
  if (typeof name === 'string' && name !== '') return name
  throw new FatalJobError(
    'The job names no playbook: payload_ref is playbook:<name>, or payload has one as playbook',
  )
}

function givenArgs({ payload: { args } }: Job): object {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {}
}

async function eventArgs(client: Client, job: Job, playbook: string): Promise<Record<string, unknown>> {
  if (job.causation_event_id === null) return {}
  const { rows } = await client.query<{ args: Record<string, unknown> | null }>(
    `select (select jsonb_object_agg(a.key, a.value)
               from jsonb_each(jsonb_build_object('event_id', e.id, 'event_type', e.event_domain || '.' || e.event_type,
                                                  'subject', e.event_subject_ref, 'payload', e.safe_payload)) a
              where c.payload -> 'args' ? a.key) as args
       from iu_core.event_outbox e,
            (select payload from noetl.catalog where path = $2 order by version desc limit 1) c
      where e.id = $1`,
    [job.causation_event_id, playbook],
  )
  return rows[0]?.args ?? {}
}

// Retention.

/** Records a transaction: short enough that nobody waits for it. */
const RECORDS_PER_BATCH = 500
/** A sweep ends by then; what is left is swept with the next one. */
const SWEEP_MS = 20_000

/** Deletes staging records past the retention of their kind; none while the gate is closed. */
const sweepStaging: JobHandler = async (_job, context) => {
  const until = performance.now() + SWEEP_MS
  let cleaned = 0
  for (;;) {
    const batch = await context.transaction(async (client) => {
      const { rows } = await client.query<{ cleaned: number | null }>(
        `select case when iu_core.fn_gate_open('iu_core.staging_cleanup_enabled')
                     then (iu_core.fn_iu_staging_cleanup(jsonb_build_object('limit', $1::integer)) ->> 'cleaned')::integer
                end as cleaned`,
        [RECORDS_PER_BATCH],
      )
      return rows[0]!.cleaned
    })
    if (batch === null) return { cleaned, skipped: 'the gate iu_core.staging_cleanup_enabled is closed' }
    cleaned += batch
    if (batch < RECORDS_PER_BATCH || performance.now() > until || context.signal.aborted) return { cleaned }
  }
}

/** The SQL functions delete at most so many rows in one call. */
const ROWS_PER_BATCH = 10_000
/** As long as cleanup_staging_rows() runs. */
const CLEANUP_MS = 60_000

/** One transaction for each batch: what is deleted stays deleted, and no lock is held for a minute. */
export const cleanStagedRows: JobHandler = async (_job, context) => {
  const until = performance.now() + CLEANUP_MS
  const all = { promoted: 0, invalid: 0, orphaned: 0 }
  for (;;) {
    const deleted = await context.transaction(async (client) => {
      await client.query('set local role service_role')
      const { rows } = await client.query<typeof all>(
        `select promoted_deleted as promoted, invalid_deleted as invalid, orphan_deleted as orphaned
           from iu_core.fn_ingest_cleanup_rows()`,
      )
      return rows[0]!
    })
    all.promoted += deleted.promoted
    all.invalid += deleted.invalid
    all.orphaned += deleted.orphaned
    const count = deleted.promoted + deleted.invalid + deleted.orphaned
    if (count < ROWS_PER_BATCH || performance.now() > until || context.signal.aborted) return all
  }
}

const cleanIdResolutions: JobHandler = async (_job, context) => {
  const until = performance.now() + CLEANUP_MS
  let deleted = 0
  for (;;) {
    const batch = await context.transaction(async (client) => {
      await client.query('set local role service_role')
      const { rows } = await client.query<{ deleted: number }>(
        'select iu_core.fn_ingest_cleanup_resolutions() as deleted',
      )
      return rows[0]!.deleted
    })
    deleted += batch
    if (batch < ROWS_PER_BATCH || performance.now() > until || context.signal.aborted) return { deleted }
  }
}

/** Handlers that update derived data of information units after a change. */
const unitHandlers: JobHandlers = {
  iu_recompose_pieces: (job, context) => callFunction(context, 'fn_unit_recompose', subjectOf(job)),
  iu_axis_refresh: (job, context) => callFunction(context, 'fn_unit_axis_refresh', subjectOf(job)),
  // Which run it was makes no difference: any may have made the units that edges wait for.
  kg_link_refresh: (job, context) => callFunction(context, 'fn_unit_link_refresh', job.workspace_id),
}

/** SQL functions of one id. */
type SqlFunction =
  | 'fn_notify_reviewers'
  | 'fn_alerts_evaluate'
  | 'fn_iu_auto_instantiate_from_event'
  | 'fn_health_followup_review'
  | 'fn_unit_recompose'
  | 'fn_unit_axis_refresh'
  | 'fn_unit_link_refresh'

/** Calls the function; its answer is the job's result. The function's work and the completion are committed together. */
function callFunction(context: JobContext, name: SqlFunction, id: string | null): Promise<void> {
  return context.transaction(async (client) => {
    const { rows } = await client.query<{ result: unknown }>(`select iu_core.${name}($1) as result`, [id])
    await context.complete(client, rows[0]!.result)
  })
}

/** The subject of the event, which a consumer puts into target_ref. */
function subjectOf(job: Job): string {
  return requireUuid(job.target_ref, 'subject, in target_ref')
}

function requireUuid(value: string | null | undefined, what: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value
  throw new FatalJobError(`The job names no ${what}`)
}

/** The kinds that the server handles itself. It stands below the handlers, which must exist when this is evaluated. */
export const BUILT_IN_KINDS: readonly string[] = Object.keys(builtInHandlers({ webhooks: { hosts: [] } }))
