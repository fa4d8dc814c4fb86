/** Nothing is promoted without the approval that its dataset asks for: each wrong way is tried. */
import { describe, expect, it } from 'vitest'
import { mapHeaders } from '../../src/ingest/datasets/headers.ts'
import { findRecord } from '../../src/staging/records.ts'
import { useDatabase } from '../support/database.ts'
import { createMember } from '../support/factories.ts'
import { boxes, type Planned, sha256, TRIAL, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
let files = 0

const stagePlanned = () => trial.stagePlanned([{ group_code: `g${++files}`, day: '2026-11-01', amount: 1 }])
const submit = (plan: Planned) =>
  trial.service('select iu_core.fn_ingest_submit($1, $2, $3) as id', [
    plan.upload_id,
    plan.digest,
    trial.operator.userId,
  ])
const reviewOf = async (plan: Planned) =>
  (
    await db.owner<{ id: string }>(
      'select review_record_id as id from iu_core.ingest_plan where upload_id = $1',
      [plan.upload_id],
    )
  )[0]!.id
const approveAs = (person: Parameters<typeof db.as>[0], plan: Planned, digest = plan.digest) =>
  db.as(person, async (client) =>
    client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [
      plan.upload_id,
      digest,
      await boxes(db, plan.upload_id),
    ]),
  )

/** Refused, and nothing at all has changed. */
async function refused(plan: Planned, state: string): Promise<void> {
  const before = await trial.image()
  expect(await sqlstateOf(trial.promote(plan))).toBe(state)
  expect(
    await sqlstateOf(
      db.as(trial.operator, (client) =>
        client.query('select iu_core.fn_ingest_promote($1, $2)', [plan.upload_id, plan.digest]),
      ),
    ),
  ).toBe(state)
  expect(await trial.image()).toEqual(before)
}

it('the review of a plan that was replaced is withdrawn: nobody rejected it, and its approval does not count', async () => {
  const withdrawn = async (id: string) => {
    const record = await db.as(trial.operator, (client) => findRecord(client, id))
    return [record?.lifecycle_status, record?.withdrawn]
  }
  const plan = await stagePlanned()
  await trial.approved(plan)
  const first = await reviewOf(plan)
  expect(await withdrawn(first)).toEqual(['approved', null])
  const again = await trial.planned(plan.upload_id)
  expect(await withdrawn(first)).toEqual(['approved', 'a new plan replaced it'])
  await submit(again)
  const second = await reviewOf(again)
  expect(await withdrawn(second)).toEqual(['pending', null])
  const last = await trial.planned(plan.upload_id, 'LENIENT')
  expect(await withdrawn(second)).toEqual(['rejected', 'a new plan replaced it'])
  // A reviewer's own words say nothing about the plan.
  await submit(last)
  const third = await reviewOf(last)
  await db.as(trial.reviewer, (client) =>
    client.query(`select iu_core.fn_ingest_reject($1, 'the plan was replaced')`, [plan.upload_id]),
  )
  expect(await withdrawn(third)).toEqual(['rejected', null])
  const discarded = await stagePlanned()
  await trial.approved(discarded)
  const fourth = await reviewOf(discarded)
  await trial.service('select iu_core.fn_ingest_discard($1)', [discarded.upload_id])
  expect(await withdrawn(fourth)).toEqual(['approved', 'its upload was discarded'])
  const used = await stagePlanned()
  await trial.approved(used)
  const fifth = await reviewOf(used)
  await trial.promote(used)
  expect(await withdrawn(fifth)).toEqual(['consumed', null])
})

describe('promotion is refused', () => {
  it('when the plan was not submitted', async () => refused(await stagePlanned(), 'SD608'))

  it('while nobody has decided', async () => {
    const plan = await stagePlanned()
    await submit(plan)
    await refused(plan, 'SD608')
  })

  it('when it was rejected', async () => {
    const plan = await stagePlanned()
    await submit(plan)
    await db.as(trial.reviewer, (client) =>
      client.query('select iu_core.fn_ingest_reject($1, $2)', [plan.upload_id, 'the wrong account']),
    )
    await refused(plan, 'SD608')
  })

  it('when the approval has expired', async () => {
    const plan = await stagePlanned()
    await trial.approved(plan)
    await backdateReview(await reviewOf(plan))
    await refused(plan, 'SD608')
  })

  it('when another plan was approved: planned again, the approval is gone', async () => {
    const plan = await stagePlanned()
    await trial.approved(plan)
    const again = await trial.planned(plan.upload_id)
    await refused(again, 'SD608')
    await refused(plan, 'SD606')
    const lenient = await trial.planned(plan.upload_id, 'LENIENT')
    expect(lenient.digest).not.toBe(plan.digest)
    await refused(lenient, 'SD608')
  })

  it('when a line was repaired after the approval', async () => {
    const plan = await stagePlanned()
    await trial.approved(plan)
    await repair(plan, trial.operator.userId, 2)
    expect(await sqlstateOf(trial.promote(plan))).toBe('SD602')
    await refused(await trial.planned(plan.upload_id), 'SD608')
  })

  it('when a review record of another upload is approved', async () => {
    const [plan, other] = [await stagePlanned(), await stagePlanned()]
    await trial.approved(other)
    await submit(plan)
    await refused(plan, 'SD608')
    expect(await sqlstateOf(approveAs(trial.reviewer, plan, other.digest))).toBe('SD606')
  })

  it('when the dataset began to ask for approval after the plan was made', async () => {
    await db.owner(`update iu_core.ingest_dataset set approval_required = false where dataset = 'trial'`)
    const plan = await stagePlanned()
    await db.owner(`update iu_core.ingest_dataset set approval_required = true where dataset = 'trial'`)
    await refused(plan, 'SD608')
  })

  it('when the dataset stopped asking after the plan was made with the promise of a review', async () => {
    const plan = await stagePlanned()
    await db.owner(`update iu_core.ingest_dataset set approval_required = false where dataset = 'trial'`)
    await refused(plan, 'SD608')
    await db.owner(`update iu_core.ingest_dataset set approval_required = true where dataset = 'trial'`)
  })

  it('when the dataset was registered again after the approval', async () => {
    const plan = await stagePlanned()
    await trial.approved(plan)
    await trial.register({ ...TRIAL, version: 2 })
    await refused(plan, 'SD606')
    await trial.register(TRIAL)
  })
})

/** As if its time had passed; the constraint on the lifecycle is dropped for the test only. */
async function backdateReview(record: string): Promise<void> {
  const superuser = await db.session('postgres')
  await superuser.query(`set session_replication_role = replica`)
  await superuser.query(
    `update iu_core.iu_staging_record set created_at = created_at - interval '90 days', approved_at = approved_at - interval '90 days',
            expires_at = clock_timestamp() - interval '1 second' where staging_record_id = $1`,
    [record],
  )
  await superuser.end()
}

async function repair(plan: Planned, by: string, amount: number): Promise<void> {
  await trial.service(
    `select iu_core.fn_ingest_repair($1, (select jsonb_agg(jsonb_build_object('row_number', row_number, 'raw_payload', raw_payload,
       'normalized_payload', normalized_payload || jsonb_build_object('amount', $3::int), 'validation_status', 'valid',
       'validation_errors', '[]'::jsonb, 'validation_warnings', '[]'::jsonb)) from public.staging_rows
       where upload_id = $1 and row_type = 'figure'), $2)`,
    [plan.upload_id, by, amount],
  )
}

describe('four eyes', () => {
  it('keeps out whoever uploaded it, whoever handed it in', async () => {
    const uploader = await createMember(db, trial.workspace, 'reviewer')
    const plan = await trial.stagePlanned([{ group_code: 'mine', day: '2026-11-01', amount: 1 }], {
      uploadedBy: uploader.userId,
    })
    await submit(plan)
    expect(await sqlstateOf(approveAs(uploader, plan))).toBe('SD508')
    await approveAs(trial.reviewer, plan)
    await trial.promote(plan)
  })

  it('keeps out whoever corrected a line', async () => {
    const corrector = await createMember(db, trial.workspace, 'reviewer')
    const first = await stagePlanned()
    await repair(first, corrector.userId, 3)
    const plan = await trial.planned(first.upload_id)
    await submit(plan)
    expect(await sqlstateOf(approveAs(corrector, plan))).toBe('SD508')
    await approveAs(trial.reviewer, plan)
    await trial.promote(plan)
  })

  it('keeps out a service that approves in the name of the uploader', async () => {
    const plan = await stagePlanned()
    await submit(plan)
    const approve = (by: string | null) =>
      trial.service('select iu_core.fn_ingest_approve($1, $2, $3, $4)', [
        plan.upload_id,
        plan.digest,
        ['changes'],
        by,
      ])
    expect(await sqlstateOf(approve(trial.operator.userId))).toBe('SD508')
    expect(await sqlstateOf(approve(null))).toBe('SD508')
  })

  it('is asked in the staging zone, too: who uploaded or corrected neither ticks nor approves the review record', async () => {
    const uploader = await createMember(db, trial.workspace, 'reviewer')
    const corrector = await createMember(db, trial.workspace, 'reviewer')
    const first = await trial.stagePlanned([{ group_code: 'sly', day: '2026-11-01', amount: 1 }], {
      uploadedBy: uploader.userId,
    })
    await repair(first, corrector.userId, 3)
    const plan = await trial.planned(first.upload_id)
    await submit(plan)
    const record = await reviewOf(plan)
    const [{ hash } = { hash: '' }] = await db.owner<{ hash: string }>(
      'select content_hash as hash from iu_core.iu_staging_record where staging_record_id = $1',
      [record],
    )
    const asks = (person: Parameters<typeof db.as>[0], sql: string, values: unknown[]) =>
      sqlstateOf(db.as(person, (client) => client.query(sql, values)))
    for (const person of [uploader, corrector]) {
      expect(await asks(person, `select iu_core.fn_iu_staging_tick($1, 'changes')`, [record])).toBe('SD508')
      expect(await asks(person, 'select iu_core.fn_iu_staging_approve($1, $2)', [record, hash])).toBe('SD508')
    }
    // Nobody is locked out by the attempt.
    await approveAs(trial.reviewer, plan)
    await trial.promote(plan)
  })

  it('is asked again at promotion, of an approval from before that was so', async () => {
    const uploader = await createMember(db, trial.workspace, 'reviewer')
    const plan = await trial.stagePlanned([{ group_code: 'older', day: '2026-11-01', amount: 1 }], {
      uploadedBy: uploader.userId,
    })
    await submit(plan)
    const superuser = await db.session('postgres')
    await superuser.query(`set session_replication_role = replica`)
    await superuser.query(
      `update iu_core.iu_staging_record set lifecycle_status = 'approved', approved_at = now(), approved_by = $2
        where staging_record_id = $1`,
      [await reviewOf(plan), uploader.userId],
    )
    await superuser.end()
    await refused(plan, 'SD508')
  })

  it('keeps out whoever said what a header of the file means, also if others changed other headers since', async () => {
    const mapper = await createMember(db, trial.workspace, 'reviewer')
    const later = await createMember(db, trial.workspace, 'reviewer')
    const [field, second] = Object.keys(TRIAL.fields)
    const map = (person: Parameters<typeof db.as>[0], headers: object) =>
      db.as(person, (client) =>
        client.query(`select iu_core.fn_ingest_mapping_set($1, 'trial', 'file', $2)`, [
          trial.workspace,
          JSON.stringify(headers),
        ]),
      )
    await map(mapper, { 'Link clicks': field })
    await map(later, { 'Link clicks': field, Elsewhere: second })
    const staged = async (headers: string[]) => {
      const plan = await trial.stagePlanned([{ group_code: `h${++files}`, day: '2026-11-01', amount: 1 }], {
        headers,
      })
      await submit(plan)
      return plan
    }
    const theirs = await staged(['LINK  clicks (all)', 'Day'])
    expect(await sqlstateOf(approveAs(mapper, theirs))).toBe('SD508')
    await approveAs(later, theirs)
    // Of a file without that header they said nothing.
    await approveAs(mapper, await staged(['Clicks', 'Day']))
    // What was taken out counts as well: it changes how the file is read.
    await map(later, { Elsewhere: second })
    const without = await staged(['Link clicks'])
    expect(await sqlstateOf(approveAs(later, without))).toBe('SD508')
    await approveAs(mapper, without)
  })

  it.each([
    ['Amount spent', 'Amount spent AUD'],
    ['Amount spent (EUR)', 'amount_spent, USD'],
    ['Kosten [€]', 'Kosten'],
    ['Reichweite', '\uff32\uff45\uff49chweite'],
    ['Số tiền đã chi', 'so tien da chi'],
    ['Dépenses', 'De\u0301penses\u200b'],
    ['広告費（JPY）', '広告費'],
  ])('knows the header %j of a mapping in a file that writes it %j', async (mapped, written) => {
    const mapper = await createMember(db, trial.workspace, 'reviewer')
    const [field] = Object.keys(TRIAL.fields)
    const remembered = { headers: { [mapped]: field! } }
    // The reader takes the one for the other, and so the database must.
    expect(mapHeaders(TRIAL, 'file', [written], remembered).fields[field!]?.header).toBe(written)
    await db.as(mapper, (client) =>
      client.query(`select iu_core.fn_ingest_mapping_set($1, 'trial', 'file', $2)`, [
        trial.workspace,
        JSON.stringify(remembered.headers),
      ]),
    )
    const plan = await trial.stagePlanned([{ group_code: `m${++files}`, day: '2026-11-01', amount: 1 }], {
      headers: [written],
    })
    await submit(plan)
    expect(await sqlstateOf(approveAs(mapper, plan))).toBe('SD508')
  })

  it('does not let an operator, an agent or a stranger approve', async () => {
    const plan = await stagePlanned()
    await submit(plan)
    for (const person of [trial.operator, trial.agent, { role: 'anon' }])
      expect(await sqlstateOf(approveAs(person, plan))).toBe('42501')
    expect(await sqlstateOf(approveAs({ role: 'stagedoor_reviewer', claims: { sub: 'nobody' } }, plan))).toBe(
      'SD601',
    )
    expect(await sqlstateOf(approveAs({ ...trial.operator, role: 'stagedoor_reviewer' }, plan))).toMatch(
      /^SD20/,
    )
  })
})

it('asks for every box to be ticked, also the one about lines that are left out', async () => {
  const upload = await trial.stage(
    Array.from({ length: 10 }, (_, n) => ({ group_code: `t${n}`, day: '2026-11-01', amount: 1 })),
    { invalid: [3], hash: sha256('boxes') },
  )
  const plan = await trial.planned(upload, 'LENIENT')
  await submit(plan)
  const approve = (ticked: string[]) =>
    db.as(trial.reviewer, (client) =>
      client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [upload, plan.digest, ticked]),
    )
  expect(await sqlstateOf(approve([]))).toMatch(/^SD5/)
  expect(await sqlstateOf(approve(['changes']))).toMatch(/^SD5/)
  await approve(['changes', 'left_out'])
  await trial.promote(plan)
  expect(
    await db.owner('select approved_by from iu_core.ingest_promotion where upload_id = $1', [upload]),
  ).toEqual([{ approved_by: trial.reviewer.userId }])
  expect(
    await db.owner('select lifecycle_status from iu_core.iu_staging_record where staging_record_id = $1', [
      await reviewOf(plan),
    ]),
  ).toEqual([{ lifecycle_status: 'consumed' }])
})

it('submits a plan once, and again after it was rejected', async () => {
  const plan = await stagePlanned()
  const [first] = await submit(plan)
  expect(await submit(plan)).toEqual([first])
  await db.as(trial.reviewer, (client) =>
    client.query('select iu_core.fn_ingest_reject($1, $2)', [plan.upload_id, 'look again']),
  )
  expect(await submit(plan)).not.toEqual([first])
})
