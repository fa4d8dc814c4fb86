/** Three uploads at once, bytes and lines; and a reader that died makes room. */
import { afterEach, expect, it } from 'vitest'
import { beginInQueue } from '../../src/ingest/upload-queue.ts'
import { beginUpload } from '../../src/ingest/uploads.ts'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { createClient } from '../support/ingest.ts'
import { sha256, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()
const trial = useTrial(db)
let files = 0

interface Begun {
  upload_id: string
  reader_token: string
}
const begin = async (bytes = 1, workspace = trial.workspace, client = trial.client) =>
  (
    await trial.service<Begun>(
      `select * from iu_core.fn_ingest_begin($1, 'trial', 'file', 'x.csv', $2, $3, $4)`,
      [workspace, sha256(`limits ${++files}`), bytes, client],
    )
  )[0]!
const silent = (upload: string, seconds: number) =>
  db.owner(
    'update iu_core.ingest_upload set reader_seen_at = clock_timestamp() - make_interval(secs => $2) where upload_id = $1',
    [upload, seconds],
  )

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

afterEach(async () => {
  await db.owner(`update iu_core.ingest_upload set reader_seen_at = 'epoch' where status = 'reading'`)
  await trial.service('select iu_core.fn_ingest_fail_stalled()')
})

it('reads three at once in a workspace, a fourth is refused and leaves nothing behind', async () => {
  await Promise.all([begin(), begin(), begin()])
  const before = await trial.image()
  expect(await sqlstateOf(begin())).toBe('SD613')
  expect(await trial.image()).toEqual(before)
  const elsewhere = await createWorkspace(db, 'Elsewhere')
  await begin(1, elsewhere, await createClient(db, elsewhere, 'Theirs'))
})

it('lets a fourth wait in the queue, in the order of arrival, and reports its position to each', async () => {
  const pool = db.pool('stagedoor_worker')
  const reading = [await begin(), await begin(), await begin()]
  const came: string[] = []
  const inLine = (name: string) => {
    const places = new Set<number>()
    let told = () => {}
    const waits = new Promise<void>((resolve) => {
      told = resolve
    })
    const opened = beginInQueue(
      pool,
      trial.workspace,
      () =>
        inTransaction(
          pool,
          (client) =>
            beginUpload(client, {
              workspace_id: trial.workspace,
              client_id: trial.client,
              dataset: 'trial',
              platform: 'file',
              file_name: name,
              file_hash: sha256(name),
              byte_len: 1,
            }),
          { role: 'service_role' },
        ),
      {
        onQueued: (position) => {
          places.add(position)
          told()
        },
      },
    ).then((begun) => {
      came.push(name)
      return begun
    })
    return { opened, waits, places }
  }
  const end = ({ upload_id, reader_token }: Begun) =>
    trial.service('select iu_core.fn_ingest_fail($1, $2, $3)', [upload_id, reader_token, '{}'])

  const fourth = inLine('fourth')
  await fourth.waits
  const fifth = inLine('fifth')
  await fifth.waits
  const sixth = inLine('sixth')
  await sixth.waits
  expect(came).toEqual([])
  expect([...fourth.places]).toEqual([1])
  expect([...fifth.places]).toEqual([2])
  expect([...sixth.places]).toEqual([3])
  await end(reading[0]!)
  expect(await fourth.opened).toMatchObject({ created: true })
  await end(reading[1]!)
  await fifth.opened
  await end(reading[2]!)
  await sixth.opened
  expect(came).toEqual(['fourth', 'fifth', 'sixth'])
})

it('refuses a fourth whose time in line is over, and one that was given up leaves the line', async () => {
  const pool = db.pool('stagedoor_worker')
  const full = () => Promise.reject(new StagedoorError('uploads_at_once', { limit: 3 }))
  await expect(beginInQueue(pool, trial.workspace, full, { maxWaitMs: 1 })).rejects.toMatchObject({
    code: 'uploads_at_once',
  })
  const abort = new AbortController()
  const isNext = signal()
  const holder = beginInQueue(pool, trial.workspace, full, {
    signal: abort.signal,
    onQueued: () => isNext.resolve(),
  })
  await isNext.promise
  const behind = new AbortController()
  const isBehind = signal()
  const waiter = beginInQueue(pool, trial.workspace, full, {
    signal: behind.signal,
    onQueued: () => isBehind.resolve(),
  })
  await isBehind.promise
  behind.abort()
  await expect(waiter).rejects.toThrow()
  abort.abort()
  await expect(holder).rejects.toThrow()
  await expect(beginInQueue(pool, trial.workspace, async () => 'opened')).resolves.toBe('opened')
})

it('counts right when many begin at once', async () => {
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => sqlstateOf(begin())))
  expect(outcomes.filter((one) => one === 'not refused')).toHaveLength(3)
  expect(outcomes.filter((one) => one === 'SD613')).toHaveLength(9)
})

it('fails the upload of a reader without progress for a minute, not sooner, and frees its place', async () => {
  const [dead, slow] = [await begin(), await begin(), await begin()]
  await silent(slow!.upload_id, 50)
  expect(await sqlstateOf(begin())).toBe('SD613')
  await db.owner(
    `insert into public.staging_rows (workspace_id, client_id, upload_id, platform, row_type, row_number, raw_payload) values ($1, $2, $3, 'file', 'figure', 2, '{}')`,
    [trial.workspace, trial.client, dead!.upload_id],
  )
  await silent(dead!.upload_id, 61)
  await begin()
  expect(
    await db.owner(
      `select status, error ->> 'code' as code, (select count(*)::int from public.staging_rows s where s.upload_id = u.upload_id) as rows from iu_core.ingest_upload u where upload_id = $1`,
      [dead!.upload_id],
    ),
  ).toEqual([{ status: 'failed', code: 'reader_gone', rows: 0 }])
  expect(await db.owner('select status from public.data_uploads where id = $1', [dead!.upload_id])).toEqual([
    { status: 'failed' },
  ])
})

it('keeps a reader that reports progress', async () => {
  const { upload_id, reader_token } = await begin()
  await silent(upload_id, 61)
  await trial.service('select iu_core.fn_ingest_progress($1, $2, $3)', [
    upload_id,
    reader_token,
    '{"stage": "read"}',
  ])
  expect(await trial.service('select iu_core.fn_ingest_fail_stalled() as swept')).toEqual([{ swept: 0 }])
})

it('lets a reader that was given up change nothing', async () => {
  const { upload_id, reader_token } = await begin()
  await silent(upload_id, 61)
  await trial.service('select iu_core.fn_ingest_fail_stalled()')
  const before = await trial.image()
  const reading = JSON.stringify({
    layout: { fields: ['day'], row_types: ['figure'], leaf: 'figure' },
    lines: 0,
  })
  for (const [sql, values] of [
    ['select iu_core.fn_ingest_complete_reading($1, $2, $3, $4)', [upload_id, reader_token, reading, '[]']],
    ['select iu_core.fn_ingest_progress($1, $2, $3)', [upload_id, reader_token, '{}']],
    ['select iu_core.fn_ingest_fail($1, $2, $3)', [upload_id, reader_token, '{}']],
  ] as const)
    expect(await sqlstateOf(trial.service(sql, [...values]))).toBe('SD612')
  expect(await trial.image()).toEqual(before)
  const other = await begin()
  expect(
    await sqlstateOf(
      trial.service('select iu_core.fn_ingest_fail($1, $2, $3)', [other.upload_id, reader_token, '{}']),
    ),
  ).toBe('SD612')
})

it('refuses more bytes than the workspace may have: its own limit, or everybody’s', async () => {
  expect(await sqlstateOf(begin(52_428_801))).toBe('SD603')
  await db.owner('select iu_core.fn_ingest_limit_set($1, $2, null, null)', [trial.workspace, '100000000'])
  await begin(52_428_801)
  expect(await sqlstateOf(begin(100_000_001))).toBe('SD603')
  expect(
    await db.owner('select max_lines, max_at_once from iu_core.ingest_limit where workspace_id = $1', [
      trial.workspace,
    ]),
  ).toEqual([{ max_lines: 100_000, max_at_once: 3 }])
})

it('refuses what is no upload', async () => {
  const bad = (values: unknown[]) =>
    sqlstateOf(trial.service('select iu_core.fn_ingest_begin($1, $2, $3, $4, $5, $6, $7, $8)', values))
  const good = [trial.workspace, 'trial', 'file', 'x.csv', sha256('bad'), 1, trial.client, 'SAFE_PROD']
  const wrong: [number, unknown, string][] = [
    [1, 'none', 'SD604'],
    [1, null, 'SD604'],
    [2, 'none', 'SD604'],
    [2, null, 'SD604'],
    [3, ' ', 'SD001'],
    [3, null, 'SD001'],
    [4, 'abc', 'SD001'],
    [4, null, 'SD001'],
    [5, -1, 'SD001'],
    [5, null, 'SD001'],
    [6, null, 'SD610'],
    [6, trial.workspace, 'SD610'],
    [7, 'FAST', 'SD001'],
    [7, null, 'SD001'],
  ]
  for (const [place, value, state] of wrong)
    expect([place, value, await bad(good.map((one, n) => (n === place ? value : one)))]).toEqual([
      place,
      value,
      state,
    ])
})
