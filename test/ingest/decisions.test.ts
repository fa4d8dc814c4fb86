/** What is said about an upload: each decision is an event, in the name of whoever made it, and each refusal names its remedy. */
import { expect, it } from 'vitest'
import { approvePlan, rejectPlan, submitPlan } from '../../src/ingest/plan.ts'
import { planUndo, undoUpload } from '../../src/ingest/promotion.ts'
import { discardUpload } from '../../src/ingest/uploads.ts'
import { asStagedoorError } from '../../src/kernel/errors.ts'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { type Planned, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
let files = 0

const stagePlanned = (invalid: number[] = []) =>
  trial.stagePlanned(
    Array.from({ length: 20 }, (_, n) => ({
      group_code: `d${++files}`,
      day: `2026-11-0${(n % 9) + 1}`,
      amount: 1,
    })),
    { invalid },
    invalid.length > 0 ? 'LENIENT' : 'STRICT',
  )
const asBackEnd = <T>(work: (client: Client) => Promise<T>) =>
  inTransaction(db.pool('stagedoor_worker'), work, { role: 'service_role' })
const refusal = (work: (client: Client) => Promise<unknown>) =>
  asBackEnd(work).then(
    () => undefined,
    (error) => asStagedoorError(error),
  )
const events = async ({ upload_id }: Pick<Planned, 'upload_id'>) =>
  (
    await db.owner<{ type: string; actor: string }>(
      'select event_type as type, actor from iu_core.event_outbox where event_subject_ref = $1 order by id',
      [upload_id],
    )
  ).map(({ type, actor }) => [type.replace('ingestion_', ''), actor])

it('the history has every decision, in the name of the one who made it', async () => {
  const { userId: operator } = trial.operator
  const { userId: reviewer } = trial.reviewer
  const plan = await stagePlanned()
  await asBackEnd((client) => submitPlan(client, plan.upload_id, plan.digest, operator))
  await asBackEnd((client) => rejectPlan(client, plan.upload_id, 'look again', reviewer))
  await asBackEnd((client) => submitPlan(client, plan.upload_id, plan.digest, operator))
  // Another service than the one that brought the file in.
  const approval = { digest: plan.digest, ticked: ['changes'], approvedBy: reviewer }
  await inTransaction(db.pool('stagedoor_api'), (client) => approvePlan(client, plan.upload_id, approval), {
    role: 'service_role',
  })
  expect((await events(plan)).slice(2)).toEqual([
    ['submitted', operator],
    ['rejected', reviewer],
    ['submitted', operator],
    ['approved', reviewer],
  ])
  expect(
    await db.owner(
      `select c.ticked_by, r.rejected_by from iu_core.iu_staging_record r
         left join iu_core.iu_staging_check c using (staging_record_id)
        where r.metadata ->> 'upload_id' = $1 order by r.created_at`,
      [plan.upload_id],
    ),
  ).toEqual([
    { ticked_by: null, rejected_by: reviewer },
    { ticked_by: reviewer, rejected_by: null },
  ])
  const other = await stagePlanned()
  await asBackEnd((client) => discardUpload(client, other.upload_id, operator))
  expect((await events(other)).at(-1)).toEqual(['discarded', operator])
})

it('an upload that nobody goes on with says that it was given up', async () => {
  const plan = await stagePlanned()
  await db.owner(
    `update iu_core.ingest_upload set staged_at = staged_at - interval '3 days' where upload_id = $1`,
    [plan.upload_id],
  )
  await db.owner(
    `update iu_core.ingest_plan set planned_at = planned_at - interval '3 days' where upload_id = $1`,
    [plan.upload_id],
  )
  await trial.service('select iu_core.fn_ingest_expire()')
  expect((await events(plan)).at(-1)![0]).toBe('expired')
})

it('whoever acts for another may not name somebody to approve what they put in themselves', async () => {
  const uploader = await createMember(db, trial.workspace, 'operator')
  const plan = await trial.stagePlanned([{ group_code: 'own', day: '2026-11-01', amount: 1 }], {
    uploadedBy: uploader.userId,
  })
  await asBackEnd((client) => submitPlan(client, plan.upload_id, plan.digest, trial.operator.userId))
  const [{ changed_by }] = (await db.owner<{ changed_by: string[] }>(
    'select changed_by from iu_core.ingest_upload where upload_id = $1',
    [plan.upload_id],
  )) as [{ changed_by: string[] }]
  const backEnd = changed_by.find((who) => who !== uploader.userId)!
  const refused = await refusal((client) =>
    approvePlan(client, plan.upload_id, {
      digest: plan.digest,
      ticked: ['changes'],
      approvedBy: trial.reviewer.userId,
    }),
  )
  expect(refused).toMatchObject({ code: 'staging_own_record' })
  expect(refused!.message).toContain(`contains changes by ${backEnd}`)
})

it('a digest of another upload is called that, and one of nothing is not called a new plan', async () => {
  const [plan, other] = [await stagePlanned(), await stagePlanned()]
  expect(await refusal((client) => submitPlan(client, plan.upload_id, other.digest))).toMatchObject({
    code: 'plan_stale',
    message: expect.stringContaining(`the digest of the plan of upload ${other.upload_id}`),
  })
  expect(await refusal((client) => submitPlan(client, plan.upload_id, 'f'.repeat(64)))).toMatchObject({
    code: 'plan_stale',
    message: `The plan of upload ${plan.upload_id} has another digest`,
  })
})

it('open boxes are named with the words that tick all of them', async () => {
  const plan = await stagePlanned([3])
  await asBackEnd((client) => submitPlan(client, plan.upload_id, plan.digest, trial.operator.userId))
  const approve = (client: Client) =>
    approvePlan(client, plan.upload_id, { digest: plan.digest, ticked: ['changes'] })
  const refused = await db.as(trial.reviewer, approve).catch(asStagedoorError)
  expect(refused).toMatchObject({
    code: 'staging_checklist_open',
    message: expect.stringContaining('left_out'),
    hint: expect.stringContaining('--tick changes,left_out'),
  })
})

it('an upload that is already undone is called that', async () => {
  const plan = await stagePlanned()
  await trial.approved(plan)
  await trial.promote(plan)
  await trial.undo(plan.upload_id)
  for (const again of [planUndo, undoUpload])
    expect(await refusal((client) => again(client, plan.upload_id))).toMatchObject({
      code: 'upload_state',
      message: `Upload ${plan.upload_id} is already undone`,
    })
})
