/** The six pairs of event and job that ship, each run from the event to its handler. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { JobHandler } from '../../../src/jobs/handlers.ts'
import type { Job } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { emit, HANDLERS, useReacting } from './reacting.ts'

const db = useDatabase()
const reacting = useReacting(db)

const PAIRS = [
  ['piece', 'piece_reordered', 'iu_recompose_pieces'],
  ['piece', 'piece_deprecated', 'iu_axis_refresh'],
  ['system', 'issue_resolved', 'health_followup_review'],
  ['staging', 'record_expired', 'staging_cleanup_sweep'],
  ['dot', 'run.applied', 'kg_link_refresh'],
  ['birth_registry', 'entity_born', 'auto_instantiate_from_template'],
] as const
/** What each handler says of what it did; an event of nothing real leaves most of them nothing to do. */
const RESULTS: Record<string, string[]> = {
  iu_recompose_pieces: ['skipped'],
  iu_axis_refresh: ['skipped'],
  kg_link_refresh: ['checked', 'unverified'],
  health_followup_review: ['skipped'],
  staging_cleanup_sweep: ['cleaned', 'skipped'],
  auto_instantiate_from_template: ['already', 'staging_record_ids'],
}

it('ships every consumer disabled, so that an event makes no job', async () => {
  const consumers = await db.owner<{ consumer_id: string }>(
    `select consumer_id, enabled, reviewed_by from iu_core.consumer_registry`,
  )
  expect(consumers).toHaveLength(12)
  expect(consumers).toEqual(
    consumers.map(({ consumer_id }) => ({ consumer_id, enabled: false, reviewed_by: null })),
  )
  for (const [domain, type] of PAIRS) await emit(db, domain, type)
  expect(await reacting.dispatch()).toEqual([])
})

describe.each(PAIRS)('%s.%s', (domain, type, kind) => {
  it(`becomes ${kind}, and runs`, async () => {
    await reacting.activate(kind)
    const workspace = await createWorkspace(db, kind)
    const subject = randomUUID()
    const event = await emit(db, domain, type, { subject, workspace })
    const seen: Job[] = []
    const [job, ...others] = await reacting.react({
      [kind]: async (given, context) => {
        seen.push(given)
        return (HANDLERS[kind] as JobHandler)(given, context)
      },
    })
    expect(others).toEqual([])
    expect(job).toMatchObject({
      job_kind: kind,
      executor: 'PG_worker',
      target_ref: subject,
      causation_event_id: event,
      correlation_id: event,
      workspace_id: workspace,
      actor: `consumer:${kind}`,
      attempts: 1,
    })
    expect(seen).toHaveLength(1)
    expect(Object.keys(job!.result as object).sort()).toEqual(RESULTS[kind])
    await db.owner('select iu_core.fn_consumer_disable($1)', [kind])
  })
})

it('makes one job of an event, however often it is dispatched', async () => {
  await reacting.activate('kg_link_refresh')
  const event = await emit(db, 'dot', 'run.applied', { subject: 'run' })
  expect(await reacting.dispatch()).toHaveLength(1)
  await db.pool('stagedoor_worker').query('select iu_core.fn_consumer_dispatch($1)', [event])
  expect(await reacting.dispatch()).toEqual([])
})
