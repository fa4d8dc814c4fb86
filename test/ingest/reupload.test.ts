/** The same bytes are recognised, unless what they came to is gone. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createClient } from '../support/ingest.ts'
import { sha256, useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
const LINES = [{ group_code: 'again', day: '2026-11-01', amount: 1 }]

interface Begun {
  upload_id: string
  created: boolean
  status: string
  reader_token: string | null
}
const begin = async (hash: string, options: { client?: string; mode?: string; dataset?: string } = {}) =>
  (
    await trial.service<Begun>(
      `select * from iu_core.fn_ingest_begin($1, $2, 'file', 'x.csv', $3, 1, $4, $5)`,
      [
        trial.workspace,
        options.dataset ?? 'trial',
        hash,
        options.client ?? trial.client,
        options.mode ?? 'SAFE_PROD',
      ],
    )
  )[0]!
const giveUp = (begun: Begun) =>
  trial.service('select iu_core.fn_ingest_fail($1, $2, $3)', [
    begun.upload_id,
    begun.reader_token,
    '{"code": "test"}',
  ])

/** Begun again, nothing is opened and nothing changes. */
async function recognised(hash: string, upload: string): Promise<void> {
  const before = await trial.image()
  expect(await begin(hash)).toMatchObject({ upload_id: upload, created: false, reader_token: null })
  expect(await trial.image()).toEqual(before)
}

it('does nothing while the first is being read, staged, planned or promoted', async () => {
  const reading = await begin(sha256('reading'))
  await recognised(sha256('reading'), reading.upload_id)
  await giveUp(reading)
  const hash = sha256('bytes')
  const upload = await trial.stage(LINES, { hash })
  await recognised(hash, upload)
  const plan = await trial.planned(upload)
  await recognised(hash, upload)
  await trial.promote(plan)
  await recognised(hash, upload)
})

it('reads them again after it was undone, failed, discarded or expired', async () => {
  const hash = sha256('again')
  const endings: [string, (upload: string) => Promise<unknown>][] = [
    [
      'undone',
      async (upload) => {
        await trial.promote(await trial.planned(upload))
        await trial.undo(upload)
      },
    ],
    ['discarded', (upload) => trial.service('select iu_core.fn_ingest_discard($1)', [upload])],
    [
      'expired',
      async (upload) => {
        await db.owner(
          `update iu_core.ingest_upload set staged_at = staged_at - interval '2 days' where upload_id = $1`,
          [upload],
        )
        await trial.service('select iu_core.fn_ingest_expire()')
      },
    ],
  ]
  for (const [status, end] of endings) {
    const upload = await trial.stage(LINES, { hash })
    await end(upload)
    expect(await db.owner('select status from iu_core.ingest_upload where upload_id = $1', [upload])).toEqual(
      [{ status }],
    )
  }
  const failing = await begin(hash)
  await giveUp(failing)
  const last = await begin(hash)
  expect(last).toMatchObject({ created: true })
  await giveUp(last)
  expect(
    await db.owner('select status from iu_core.ingest_upload where file_hash = $1 order by upload_id', [
      hash,
    ]),
  ).toEqual(['undone', 'discarded', 'expired', 'failed', 'failed'].map((status) => ({ status })))
})

it('takes them for another client, another dataset, and for a dry run', async () => {
  const hash = sha256('others')
  await trial.promoted(LINES, { hash })
  const other = await createClient(db, trial.workspace, 'Second')
  await trial.register({ ...(await import('../support/ingest-rows.ts')).TRIAL, name: 'trial_two' })
  for (const options of [
    { client: other },
    { dataset: 'trial_two' },
    { mode: 'FULL_DRY_RUN' },
    { mode: 'FULL_DRY_RUN' },
  ]) {
    const begun = await begin(hash, options)
    expect(begun.created).toBe(true)
    await giveUp(begun)
  }
})

it('updates from a corrected file', async () => {
  const first = await trial.promoted([{ group_code: 'corrected', day: '2026-11-01', amount: 1 }])
  const second = await trial.promoted([{ group_code: 'corrected', day: '2026-11-01', amount: 2 }])
  expect([first.totals.figure, second.totals.figure]).toEqual([{ insert: 1 }, { update: 1 }])
})
