/** Reviewers are notified that something waits: by references, once, and only while it waits. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newWebhookSecret } from '../../../src/jobs/webhooks.ts'
import { INTERMEDIATE, stage } from '../../staging/staged.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { useTrial } from '../../support/ingest-rows.ts'
import { emit, HANDLERS, useReacting } from './reacting.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
const reacting = useReacting(db)
let theirs: string
/** Not those that would deliver. */
const NOTIFY = { notify_reviewers: HANDLERS.notify_reviewers! }

beforeAll(async () => {
  theirs = await createWorkspace(db, 'theirs')
  await reacting.activate('notify_reviewers', 'notify_reviewers_of_uploads')
  const target = (code: string, more: object) =>
    trial.service('select iu_core.fn_webhook_target_set($1, $2)', [
      code,
      JSON.stringify({
        url: 'https://hooks.example.com/x',
        secret: newWebhookSecret(),
        purpose: 'review',
        ...more,
      }),
    ])
  await target('everybody', {})
  await target('ours', { workspace_id: trial.workspace })
  await target('theirs', { workspace_id: theirs })
  await target('alerts', { purpose: 'alert' })
  await target('off', { enabled: false })
})

beforeEach(async () => {
  await db.owner(`delete from iu_core.job_queue where job_kind = 'webhook_deliver'`)
})

const deliveries = () =>
  db.owner<{ payload_ref: string; safe_payload: Record<string, unknown>; target_ref: string }>(
    `select payload_ref, target_ref, safe_payload, workspace_id, correlation_id from iu_core.job_queue
      where job_kind = 'webhook_deliver' order by payload_ref`,
  )
/** What a delivery says of the change of a record or an upload. */
async function changeOf(subject: string) {
  const [change] = await db.owner<{ change_id: string; number: number }>(
    'select change_id, number from iu_core.change where subject_id = $1',
    [subject],
  )
  return { change_id: change!.change_id, change: change!.number, path: `/changes/${change!.number}` }
}
const staged = async (more: Partial<Parameters<typeof stage>[1]> = {}) =>
  (await stage(db.pool('stagedoor_worker'), { workspace: trial.workspace, ...more })).staging_record_id

it('sends one delivery to each target of the workspace and of all, with references and nothing else', async () => {
  const record = await staged({
    parts: ['{"part_name": "x", "payload_kind": "text", "payload_text": "confidential"}'],
  })
  const [job] = await reacting.react(NOTIFY)
  expect(job!.result).toEqual({ targets: 2 })
  const sent = await deliveries()
  expect(sent.map((one) => one.payload_ref)).toEqual(['webhook:everybody', 'webhook:ours'])
  expect(sent[0]).toEqual({
    payload_ref: 'webhook:everybody',
    target_ref: record,
    workspace_id: trial.workspace,
    correlation_id: job!.correlation_id,
    safe_payload: {
      type: 'review.waiting',
      staging_record_id: record,
      staging_kind: 'mark_manifest',
      ...(await changeOf(record)),
    },
  })
  expect(JSON.stringify(sent)).not.toContain('confidential')
})

it('sends nothing about what needs no approval, was decided or is deleted', async () => {
  await staged(INTERMEDIATE)
  const decided = await staged()
  await db.as(trial.reviewer, (client) =>
    client.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [decided]),
  )
  await emit(db, 'staging', 'record_created', { subject: '018f0000-0000-7000-8000-000000000000' })
  const done = await reacting.react(NOTIFY)
  expect(done.map((job) => job.result)).toEqual([
    { skipped: 'it waits for no approval' },
    { skipped: 'it waits for no approval' },
    { skipped: 'there is no such record any more' },
  ])
  expect(await deliveries()).toEqual([])
})

it('notifies of an upload once, with the path to it, although its package is a record, too', async () => {
  const plan = await trial.stagePlanned([{ group_code: 'g', group_name: 'G', day: '2026-11-01', amount: 1 }])
  await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
    plan.upload_id,
    plan.digest,
    trial.operator.userId,
  ])
  expect(await reacting.react(NOTIFY)).toHaveLength(2)
  const sent = await deliveries()
  expect(sent.map((one) => one.payload_ref)).toEqual(['webhook:everybody', 'webhook:ours'])
  expect(sent[0]!.safe_payload).toMatchObject({
    upload_id: plan.upload_id,
    staging_kind: 'review_package',
    ...(await changeOf(plan.upload_id)),
  })
})

it('does not believe a record that claims to be of an upload', async () => {
  const plan = await trial.stagePlanned([{ group_code: 'h', group_name: 'H', day: '2026-11-01', amount: 1 }])
  await staged({ metadata: JSON.stringify({ upload_id: plan.upload_id }) })
  await staged({ metadata: '{"upload_id": "nonsense"}' })
  await reacting.react(NOTIFY)
  const sent = await deliveries()
  expect(sent).toHaveLength(4)
  for (const { safe_payload } of sent) expect(safe_payload).not.toHaveProperty('upload_id')
})

it('notifies a workspace of nothing in another', async () => {
  await staged({ workspace: theirs })
  await reacting.react(NOTIFY)
  expect((await deliveries()).map((one) => one.payload_ref)).toEqual(['webhook:everybody', 'webhook:theirs'])
})
