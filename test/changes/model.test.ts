/** Random transitions of uploads and records by several people: after each the changes say what their subjects say. And numbers, in races. */
// @module-tag property
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { intruder, member, type Person, service, setGate } from '../staging/people.ts'
import { PACKAGE, passExpiry, passRetention, stage, startRun } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { type Planned, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
let backEnd: Person
let owner: Person
let reviewer: Person
let workspace: string
let time: Awaited<ReturnType<typeof intruder>>
/** How often each step succeeded: a search that never gets anywhere would pass, too. */
const done = new Map<string, number>()
const times = (step: string) => done.get(step) ?? 0

beforeAll(async () => {
  workspace = await createWorkspace(db, 'records')
  backEnd = await service(db)
  owner = await member(db, workspace, 'operator')
  reviewer = await member(db, workspace, 'reviewer')
  time = await intruder(db)
  await setGate(db, 'staging_cleanup_enabled', true)
})

interface Subjects {
  upload?: Planned
  record?: { staging_record_id: string; content_hash: string }
}

const service_ = (sql: string, values: unknown[] = []) => backEnd.session.query(sql, values)
const currentDigest = async (upload: string) =>
  (
    await db.owner<{ digest: string }>('select digest from iu_core.ingest_plan where upload_id = $1', [
      upload,
    ])
  )[0]?.digest

const UPLOAD_STEPS: Record<string, (upload: Planned) => Promise<unknown>> = {
  plan: ({ upload_id }) => trial.planned(upload_id, times('plan') % 2 ? 'LENIENT' : 'STRICT'),
  submit: async ({ upload_id }) =>
    service_('select iu_core.fn_ingest_submit($1, $2, $3)', [
      upload_id,
      await currentDigest(upload_id),
      trial.operator.userId,
    ]),
  approve: async ({ upload_id }) =>
    trial.approved({ upload_id, digest: await currentDigest(upload_id) } as Planned),
  reject: ({ upload_id }) =>
    service_(`select iu_core.fn_ingest_reject($1, 'the plan was replaced', $2)`, [
      upload_id,
      trial.reviewer.userId,
    ]),
  repair: ({ upload_id }) =>
    service_(`select iu_core.fn_ingest_repair($1, $2, null, $3)`, [
      upload_id,
      JSON.stringify([
        {
          row_number: 2,
          raw_payload: { amount: '2' },
          normalized_payload: {
            group_code: 'g',
            group_name: 'G',
            day: '2026-11-01',
            amount: 2,
            '@group': 'g',
          },
          validation_status: 'valid',
          validation_errors: [],
          validation_warnings: [],
        },
      ]),
      times('repair') % 3 > 0,
    ]),
  // Both with the approval that they need, if it can be had: by chance they would hardly ever come to it.
  promote: async (upload) => {
    const { upload_id } = upload
    await UPLOAD_STEPS.approve!(upload).catch(() => undefined)
    await service_('select iu_core.fn_ingest_promote($1, $2)', [upload_id, await currentDigest(upload_id)])
  },
  undo: ({ upload_id }) => trial.undo(upload_id),
  discard: ({ upload_id }) => service_('select iu_core.fn_ingest_discard($1)', [upload_id]),
  expireReview: async ({ upload_id }) => {
    const [plan] = await db.owner<{ review_record_id: string }>(
      'select review_record_id from iu_core.ingest_plan where upload_id = $1 and review_record_id is not null',
      [upload_id],
    )
    await passExpiry(time, plan!.review_record_id)
    await service_('select iu_core.fn_iu_staging_expire()')
  },
}

type Held = NonNullable<Subjects['record']>
const RECORD_STEPS: Record<string, (record: Held) => Promise<unknown>> = {
  approveRecord: ({ staging_record_id: id, content_hash }) =>
    reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, content_hash]),
  rejectRecord: ({ staging_record_id: id }) =>
    reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'withdrawn')`, [id]),
  withdraw: ({ staging_record_id: id }) =>
    owner.session.query('select iu_core.fn_iu_staging_withdraw($1)', [id]),
  consume: async (record) => {
    const { staging_record_id: id } = record
    await RECORD_STEPS.approveRecord!(record).catch(() => undefined)
    await service_('select iu_core.fn_iu_staging_consume($1, $2)', [
      id,
      await startRun(backEnd.session, workspace),
    ])
  },
  expire: async ({ staging_record_id: id }) => {
    await passExpiry(time, id)
    await service_('select iu_core.fn_iu_staging_expire()')
  },
  clean: async ({ staging_record_id: id }) => {
    await passRetention(time, id)
    await service_(`select iu_core.fn_iu_staging_cleanup('{}')`)
  },
  unregister: ({ staging_record_id: id }) => service_('select iu_core.fn_iu_staging_unregister($1)', [id]),
}

const line = [{ group_code: 'g', group_name: 'G', day: '2026-11-01', amount: 1 }]
const KINDS = [{}, PACKAGE, { kind: 'cut_preview', type: 'import_preview' }]

async function take(step: string, subjects: Subjects): Promise<void> {
  if (step === 'upload') subjects.upload = await trial.stagePlanned(line)
  else if (step === 'record')
    subjects.record = await stage(owner.session, {
      workspace,
      ...KINDS[times('record') % KINDS.length],
    })
  else if (step in UPLOAD_STEPS) await UPLOAD_STEPS[step]!(subjects.upload!)
  else await RECORD_STEPS[step]!(subjects.record!)
}

it('leaves nothing for a rebuild to find, whatever happens to uploads and records', async () => {
  const steps = [...Object.keys(UPLOAD_STEPS), ...Object.keys(RECORD_STEPS)]
  const sequences = fc.array(fc.constantFrom('upload', 'record', 'submit', 'approve', 'promote', ...steps), {
    minLength: 6,
    maxLength: 16,
  })
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const subjects: Subjects = {}
      for (const step of ['upload', 'record', ...sequence]) {
        // What the state machines refuse is theirs to say.
        const ok = await take(step, subjects).then(
          () => true,
          () => false,
        )
        if (ok) done.set(step, times(step) + 1)
      }
      expect(await db.owner('select * from iu_core.fn_change_rebuild(true)')).toEqual([])
    }),
    { numRuns: cases(8, 150) },
  )
  const told = await db.owner(
    `select from iu_core.change c where history_count <> (select max(seq) from iu_core.change_history h where h.change_id = c.change_id)
        or status <> (select coalesce(h.detail ->> 'to', h.detail ->> 'status') from iu_core.change_history h
                       where h.change_id = c.change_id and h.what in ('opened', 'status') order by seq desc limit 1)`,
  )
  expect(told).toEqual([])
  expect([...done.keys()]).toEqual(
    expect.arrayContaining(['submit', 'approve', 'promote', 'repair', 'withdraw', 'consume']),
  )
})

it('gives consecutive numbers to two sessions that open changes at once, and leaves no gap where one is rolled back', async () => {
  const place = await createWorkspace(db, 'numbers')
  const [one, two] = [await member(db, place, 'operator'), await member(db, place, 'operator')]
  const open = async ({ session }: Person) => stage(session, { workspace: place })
  const number = async (id: string) =>
    (await db.owner<{ number: number }>('select number from iu_core.change where subject_id = $1', [id]))[0]
      ?.number
  // Numbers are given at the end of the transaction: whoever commits first has the first.
  await one.session.query('begin')
  const first = await open(one)
  const second = await open(two)
  await one.session.query('commit')
  expect([await number(second.staging_record_id), await number(first.staging_record_id)]).toEqual([1, 2])
  // While the number is given, the other waits for it; rolled back, it is given again.
  await one.session.query('begin')
  await open(one)
  await one.session.query('set constraints all immediate')
  const waiting = open(two)
  await untilWaiting(db, two.session)
  await one.session.query('rollback')
  expect(await number((await waiting).staging_record_id)).toBe(3)
  const five = async (person: Person) => {
    const opened = []
    for (let n = 0; n < 5; n++) opened.push(await open(person))
    return opened
  }
  const many = (await Promise.all([five(one), five(two)])).flat()
  const numbers = await Promise.all(many.map(({ staging_record_id }) => number(staging_record_id)))
  expect(numbers.sort((a, b) => a! - b!)).toEqual(Array.from({ length: 10 }, (_, n) => n + 4))
})
