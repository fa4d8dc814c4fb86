/** The pipeline by itself: its events, listeners that throw, an interruption between two steps, and what `until` means. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { backEndActor, type IngestEvent, type IngestOptions, ingest } from '../../src/ingest/pipeline.ts'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { week } from '../http/uploads/uploads-api.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db, { approval: true })

async function* bytes(text: string) {
  yield Buffer.from(text)
}

const run = (text: string, options: Partial<IngestOptions> = {}) => {
  const pool = db.pool('stagedoor_worker')
  return ingest({ pool, home: ads.home }, bytes(text), {
    actor: backEndActor(pool, ads.operator.userId),
    until: 'promoted',
    dataset: 'ads',
    platform: 'meta',
    workspaceId: ads.workspace,
    clientId: ads.client,
    ...options,
  })
}
const approval = (required: boolean) =>
  db.owner('update iu_core.ingest_dataset set approval_required = $1', [required])

/** Stages of progress once, in order. */
function recorder() {
  const seen: string[] = []
  const onEvent = (event: IngestEvent): void => {
    const word = event.type === 'progress' ? event.stage : event.type
    if (seen.at(-1) !== word) seen.push(word)
  }
  return { seen, onEvent }
}

it('emits its events in order', async () => {
  await approval(false)
  const whole = recorder()
  await run(week('Events'), { onEvent: whole.onEvent })
  expect(whole.seen).toEqual([
    'opened',
    'read',
    'check',
    'stage',
    'staged',
    'plan',
    'planned',
    'promote',
    'promoted',
  ])
  await approval(true)
  const submitted = recorder()
  await run(week('Submitted'), { onEvent: submitted.onEvent })
  expect(submitted.seen.slice(-3)).toEqual(['plan', 'planned', 'submitted'])
  const again = recorder()
  await run(week('Submitted'), { onEvent: again.onEvent })
  expect(again.seen).toEqual(['opened'])
})

it('does not fail because a listener throws', async () => {
  const warned: string[] = []
  const listen = (warning: Error) => warned.push(warning.message)
  process.on('warning', listen)
  const { upload } = await run(week('Listener'), {
    until: 'staged',
    onEvent: () => {
      throw new Error('not my day')
    },
  })
  await new Promise(setImmediate)
  process.off('warning', listen)
  expect(upload.status).toBe('staged')
  expect(warned.join()).toContain('opened: Error: not my day')
})

it.each([
  ['staged', 'planned', 'staged', /stays staged and was not planned/],
  ['planned', 'submitted', 'planned', /stays planned and was not submitted/],
] as const)('interrupted when it is %s, is not %s', async (at, next, status, message) => {
  await approval(true)
  const abort = new AbortController()
  let id = ''
  const running = run(week(`Interrupted when ${at}`), {
    signal: abort.signal,
    onEvent: (event) => {
      if (event.type === 'opened') id = event.upload_id
      if (event.type === at) abort.abort()
    },
  })
  await expect(running).rejects.toMatchObject({
    code: 'upload_interrupted',
    message: expect.stringMatching(message),
  })
  const upload = await ads.find(id)
  expect(upload.status).toBe(status)
  // Why there is no plan is kept with the upload, and its lines are checked all the same.
  if (next === 'planned') {
    expect(upload.error).toMatchObject({ code: 'upload_interrupted' })
    expect(upload.control).not.toEqual([])
  }
  const continued = await run(week(`Interrupted when ${at}`), { sameBytes: 'continue', until: 'submitted' })
  expect(continued).toMatchObject({ created: false, upload: { review_status: 'pending', error: null } })
  expect(continued.stopped).toBeUndefined()
})

it('refuses before it takes a byte, and keeps nothing of what it refuses later', async () => {
  let taken = 0
  async function* counted() {
    taken += 1
    yield Buffer.from(week('Counted'))
  }
  const pool = db.pool('stagedoor_worker')
  const options = {
    actor: backEndActor(pool),
    until: 'staged',
    dataset: 'ads',
    platform: 'nothing',
    workspaceId: ads.workspace,
  } as const
  await expect(ingest({ pool, home: ads.home }, counted(), options)).rejects.toMatchObject({
    code: 'dataset_unknown',
  })
  expect(taken).toBe(0)
  await expect(run(week('Nobody'), { clientId: ads.workspace })).rejects.toMatchObject({
    code: 'client_unknown',
  })
  expect(readdirSync(`${ads.home}/spool`)).toEqual([])
})

it('goes no further than a plan in a dry run, and that is no stop', async () => {
  const { upload, stopped } = await run(week('Dry'), { dryRun: true })
  expect(upload).toMatchObject({ status: 'planned', run_mode: 'FULL_DRY_RUN' })
  expect(stopped).toBeUndefined()
})

it('does not submit by itself what a person rejected', async () => {
  await approval(true)
  const { upload } = await run(week('Rejected'))
  await ads.service('select iu_core.fn_ingest_reject($1, $2, $3)', [
    upload.upload_id,
    'the wrong week',
    ads.reviewer.userId,
  ])
  const { stopped } = await run(week('Rejected'), { sameBytes: 'continue' })
  expect(stopped).toMatchObject({ code: 'approval_missing', message: expect.stringContaining('rejected') })
  const reported = await run(week('Rejected'))
  expect(reported.stopped).toMatchObject({ code: 'upload_already_exists', details: { state: 'rejected' } })
})

it('shows whoever opens the upload the digest of its bytes before, in the same transaction, and takes a refusal', async () => {
  const seen: string[] = []
  const text = week('Before opening')
  const before = await ads.service('select upload_id from iu_core.ingest_upload')
  const refuse = run(text, {
    beforeOpening: async (client, { file_hash }) => {
      await client.query('select 1')
      seen.push(file_hash)
      throw new StagedoorError('proposal_key_used', { key: 'x' })
    },
  })
  await expect(refuse).rejects.toMatchObject({ code: 'proposal_key_used' })
  expect(seen).toEqual([createHash('sha256').update(text).digest('hex')])
  expect(await ads.service('select upload_id from iu_core.ingest_upload')).toEqual(before)
})
