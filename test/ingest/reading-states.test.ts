/**
 * Random steps of readers, sweeps and people on one upload, against a small model: a reader with an old token is refused and changes
 * nothing, the file is kept exactly as long as somebody needs it, and an upload ends once.
 */
// @module-tag property
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sha256, useTrial } from '../support/ingest-rows.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const RUNS = cases(15, 150)
const db = useDatabase()
const trial = useTrial(db)

const STEPS = [
  'take',
  'progress',
  'progress with an old token',
  'complete',
  'complete with an old token',
  'fail for now',
  'fail for good',
  'fail and keep',
  'fail with an old token',
  'end',
  'end with an old token',
  'worker dies',
  'dead letter',
  'sweep',
  'discard',
  'retry',
] as const
type Step = (typeof STEPS)[number]

interface Model {
  status: 'reading' | 'staged' | 'failed' | 'discarded'
  /** What is left of the reading: a job, a kept file, or nothing. */
  rest: 'job' | 'kept' | 'none'
  /** The job waits, runs, or is gone without an end. */
  job: 'waiting' | 'running' | 'gone' | 'none'
  /** A reader holds the token that counts. */
  held: boolean
}

const REPLACED = 'SD612'
const STATE = 'SD602'
const DONE = 'not refused'

/** What the step answers, and what it makes of the upload. */
function expected(model: Model, step: Step, knows: boolean): [string, Model] {
  const { status, rest, job, held } = model
  const none = { rest: 'none', job: 'none', held: false } as const
  const counts = held && knows && rest === 'job'
  switch (step) {
    case 'take':
      if (job !== 'running') return [REPLACED, model]
      return [DONE, { ...model, held: true }]
    case 'progress':
      return counts && status === 'reading' ? [DONE, model] : [REPLACED, model]
    case 'complete':
      return counts && status === 'reading' ? [DONE, { ...model, status: 'staged' }] : [REPLACED, model]
    case 'fail for now':
      return counts ? [DONE, { ...model, held: false }] : [REPLACED, model]
    case 'fail for good':
      return counts
        ? [DONE, { ...none, status: status === 'reading' ? 'failed' : status }]
        : [REPLACED, model]
    case 'fail and keep':
      if (!counts) return [REPLACED, model]
      if (status === 'reading') return [DONE, { ...none, status: 'failed', rest: 'kept' }]
      return [DONE, { ...none, status }]
    case 'end':
      return counts ? [DONE, { ...none, status }] : [REPLACED, model]
    case 'worker dies':
      return [DONE, job === 'running' ? { ...model, job: 'waiting' } : model]
    case 'dead letter':
      return [DONE, job === 'none' ? model : { ...model, job: 'gone' }]
    case 'sweep':
      if (rest !== 'job' || job !== 'gone') return [DONE, model]
      if (status === 'reading') return [DONE, { ...none, status: 'failed', rest: 'kept' }]
      return [DONE, { ...none, status }]
    case 'discard':
      return status === 'discarded' ? [STATE, model] : [DONE, { ...none, status: 'discarded' }]
    case 'retry':
      if (status !== 'failed') return [STATE, model]
      return rest === 'kept'
        ? [DONE, { status: 'reading', rest: 'job', job: 'waiting', held: false }]
        : ['SD615', model]
    default:
      return [REPLACED, model]
  }
}

it(`keeps to its states for ${RUNS} random stories`, async () => {
  const worker = await trial.service<{ id: string }>(
    `select iu_core.fn_job_worker_register('PG_worker', '{upload_read:disk.model}', 'model', '1 hour') as id`,
  )
  const workerId = worker[0]!.id
  const reached = new Set<string>()
  let stories = 0
  const reading = JSON.stringify({
    lines: 0,
    layout: { leaf: 'figure', fields: [], row_types: ['figure'] },
  })

  // Each story begins some way along a path: chance alone seldom leads to its end.
  const PATHS: Step[][] = [
    [],
    ['take'],
    ['take', 'complete'],
    ['take', 'fail and keep'],
    ['take', 'fail and keep', 'retry', 'take'],
    ['take', 'dead letter', 'sweep'],
    ['take', 'fail for now', 'take', 'complete'],
  ]
  const rest = fc.array(fc.constantFrom(...STEPS), { minLength: 3, maxLength: 10 })
  const story = fc.tuple(fc.constantFrom(...PATHS), rest).map(([path, more]) => [...path, ...more])
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      // A workspace reads only a few uploads at once: those of the stories before make room.
      await trial.service(
        `select iu_core.fn_ingest_discard(upload_id, $2) from iu_core.ingest_upload where workspace_id = $1 and status = 'reading'`,
        [trial.workspace, trial.operator.userId],
      )
      const hash = sha256(`reading ${++stories}`)
      const ref = `disk:${randomUUID().replaceAll('-', '')}.${hash}`
      const [begun] = await trial.service<{ upload_id: string; reader_token: string }>(
        `select * from iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, 1, $3)`,
        [trial.workspace, hash, trial.client],
      )
      const upload = begun!.upload_id
      await trial.service(
        `select iu_core.fn_ingest_queue_reading($1, $2, $3, 'disk.model', 'planned', '{}', $4, true)`,
        [upload, begun!.reader_token, ref, randomUUID()],
      )
      let model: Model = { status: 'reading', rest: 'job', job: 'waiting', held: false }
      const old = begun!.reader_token
      let token = old
      for (const step of steps) {
        // Nobody ends a reading before the file is read.
        if (step === 'end' && model.status === 'reading') continue
        const [queued] = await db.owner<{ job_id: string; lease_epoch: number }>(
          'select job_id, lease_epoch from iu_core.job_queue where target_ref = $1',
          [upload],
        )
        if (step === 'take' && model.job === 'waiting') {
          // As a claim of this one job would.
          await db.owner(
            'update iu_core.job_queue set leased_by = $2, lease_epoch = lease_epoch + 1, attempts = attempts + 1, begun = true where job_id = $1',
            [queued!.job_id, workerId],
          )
          queued!.lease_epoch += 1
          model = { ...model, job: 'running' }
        }
        const by = (given: string): [string, unknown[]] => {
          const error = '{"code": "store_unreachable", "message": "m", "hint": "h"}'
          if (step.startsWith('progress'))
            return [`select iu_core.fn_ingest_progress($1, $2, '{"stage": "read"}')`, [upload, given]]
          if (step.startsWith('complete'))
            return [
              `select iu_core.fn_ingest_complete_reading($1, $2, $3, '[]', false)`,
              [upload, given, reading],
            ]
          if (step.startsWith('end')) return ['select iu_core.fn_ingest_reading_end($1, $2)', [upload, given]]
          const outcome = step === 'fail for good' ? 'fail' : step === 'fail and keep' ? 'keep' : 'retry'
          return ['select iu_core.fn_ingest_reading_failed($1, $2, $3, $4)', [upload, given, error, outcome]]
        }
        const [answer, next] = expected(model, step, token !== old)
        let outcome: string
        if (step === 'take') {
          outcome = await sqlstateOf(
            trial
              .service<{ taken: { reader_token: string } | null }>(
                'select iu_core.fn_ingest_reading_take($1, $2, $3) as taken',
                [upload, queued?.job_id ?? randomUUID(), queued?.lease_epoch ?? 0],
              )
              .then(([row]) => {
                token = row!.taken!.reader_token
              }),
          )
        } else if (step === 'worker dies') {
          await db.owner(
            'update iu_core.job_queue set leased_by = null, begun = false where target_ref = $1',
            [upload],
          )
          outcome = DONE
        } else if (step === 'dead letter') {
          await db.owner('delete from iu_core.job_queue where target_ref = $1', [upload])
          outcome = DONE
        } else if (step === 'sweep') {
          outcome = await sqlstateOf(trial.service('select iu_core.fn_ingest_fail_stalled()'))
        } else if (step === 'discard' || step === 'retry') {
          outcome = await sqlstateOf(trial.service(`select iu_core.fn_ingest_${step}($1)`, [upload]))
        } else {
          outcome = await sqlstateOf(trial.service(...by(step.endsWith('old token') ? old : token)))
        }
        expect([step, model, outcome]).toEqual([step, model, answer])
        model = next
        // The worker reports the end of a job whose handler is done.
        if (model.rest === 'none' || model.rest === 'kept')
          await db.owner('delete from iu_core.job_queue where target_ref = $1', [upload])
        const [found] = await db.owner<{ status: string; rest: string; trashed: boolean; token: boolean }>(
          `select u.status, case when r.upload_id is null then 'none' when r.kept_until is null then 'job' else 'kept' end as rest,
                  exists (select from iu_core.ingest_file_trash t where t.file_ref = $2) as trashed,
                  u.reader_token is not null as token
             from iu_core.ingest_upload u left join iu_core.ingest_reading r on r.upload_id = u.upload_id where u.upload_id = $1`,
          [upload, ref],
        )
        expect([step, found]).toEqual([
          step,
          {
            status: model.status,
            rest: model.rest,
            trashed: model.rest === 'none',
            token: model.status === 'reading',
          },
        ])
        reached.add(`${model.status} ${model.rest}`)
      }
      const ends = await db.owner(
        `select event_type from iu_core.event_outbox where event_subject_ref = $1 and event_type in ('ingestion_staged', 'ingestion_discarded')
          group by 1 having count(*) > 1`,
        [upload],
      )
      expect(ends).toEqual([])
      await db.owner('delete from iu_core.job_queue where target_ref = $1', [upload])
      await trial.service('select iu_core.fn_ingest_fail_stalled()')
    }),
    { numRuns: RUNS },
  )
  console.log(`readings: ${stories} stories, reached ${[...reached].sort().join(', ')}`)
  if (RUNS >= 150) expect(reached.size).toBeGreaterThanOrEqual(6)
})
