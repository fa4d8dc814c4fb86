/** The kind playbook_start: an event, or a schedule, starts a playbook. */
import type { Client } from '../../db/connection.ts'
import { FatalJobError, type JobContext } from '../handlers.ts'
import type { Job } from '../job.ts'

/**
 * In one transaction with the completion, and once for each job: the execution's key is the job's id. It follows from the
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
 * A consumer says it as its payload_ref_template, `playbook:<name>`; a schedule or a program in safe_payload.
 */
function playbookOf({ payload_ref, safe_payload }: Job): string {
  const [, named] = /^playbook:(.+)$/.exec(payload_ref ?? '') ?? []
  const name = named ?? safe_payload.playbook
  if (typeof name === 'string' && name !== '') return name
  throw new FatalJobError(
    'The job names no playbook: payload_ref is playbook:<name>, or safe_payload has one as playbook',
  )
}

function givenArgs({ safe_payload: { args } }: Job): object {
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
