/** A file of several chunks is copied by two sessions: the same rows as by one, all of them or none. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backEndActor, type IngestEvent, ingest } from '../../src/ingest/pipeline.ts'
import type { Pool } from '../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'

const db = useDatabase()
const ads = useIngest(db)

const LINES = 32_000
let files = 0

/** Line 25,000 is wrong; a chunk has 10,000 lines. */
function manyLines(): string {
  const path = join(ads.home, `many-${++files}.csv`)
  const lines = Array.from({ length: LINES }, (_, index) => {
    const day = new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10)
    return `Boots ${files},Retarget,Video,${day},${index === 25_000 - 2 ? 'many' : index},1.50`
  })
  writeFileSync(
    path,
    `Campaign name,Ad set name,Ad name,Day,Impressions,Amount spent (AUD)\n${lines.join('\n')}\n`,
  )
  return path
}

/** The pool of the back end with so many connections at most. */
function roomy(sessions: number): Pool {
  const pool = db.pool('stagedoor_worker')
  pool.options.max = sessions
  return pool
}

async function stage({
  sessions = 4,
  onEvent,
}: {
  sessions?: number
  onEvent?: (event: IngestEvent) => void
} = {}) {
  const pool = roomy(sessions)
  const { upload } = await ingest({ pool, home: ads.home }, manyLines(), {
    dataset: 'ads',
    platform: 'meta',
    workspaceId: ads.workspace,
    clientId: ads.client,
    actor: backEndActor(pool),
    until: 'staged',
    onEvent,
  })
  return upload
}

/** The transaction that wrote a row is in it. */
const written = (upload: string) =>
  db.owner<{ sessions: string; lines: string; first: number; last: number }>(
    `select count(distinct xmin::text) as sessions, count(distinct row_number) as lines, min(row_number) as first, max(row_number) as last
       from public.staging_rows where upload_id = $1`,
    [upload],
  )

const latest = () =>
  db.owner(
    `select u.status, u.error ->> 'code' as code, count(s.upload_id)::int as rows
       from iu_core.ingest_upload u left join public.staging_rows s using (upload_id)
      group by u.upload_id order by u.upload_id desc limit 1`,
  )

it('copies with two sessions what one alone would copy', async () => {
  const both = await stage()
  expect(both).toMatchObject({
    status: 'staged',
    line_count: LINES,
    valid_count: LINES - 1,
    invalid_count: 1,
  })
  expect(await written(both.upload_id)).toEqual([
    { sessions: '2', lines: String(LINES), first: 2, last: LINES + 1 },
  ])
  // What is left of a small pool is for others.
  const alone = await stage({ sessions: 2 })
  expect(alone).toMatchObject({
    status: 'staged',
    line_count: LINES,
    valid_count: LINES - 1,
    invalid_count: 1,
  })
  expect(await written(alone.upload_id)).toEqual([
    { sessions: '1', lines: String(LINES), first: 2, last: LINES + 1 },
  ])
})

it('works with a single connection', async () => {
  expect(await stage({ sessions: 1 })).toMatchObject({ status: 'staged', line_count: LINES })
})

it('goes on alone while others wait for the table', async () => {
  const other = await db.session('postgres')
  let asked: Promise<unknown> | undefined
  const upload = await stage({
    onEvent: (event) => {
      // Waits for the first session if that was faster, and then the second one would wait for it.
      if (event.type === 'progress' && event.stage === 'check')
        asked ??= other.query('begin; lock table public.staging_rows in share mode; commit')
    },
  })
  await asked
  await other.end()
  expect(upload).toMatchObject({ status: 'staged', line_count: LINES })
})

it.each([
  ['is killed', 'perform pg_terminate_backend(pg_backend_pid())'],
  ['fails', `raise exception 'no'`],
])('leaves no row of either session when one %s', async (_, trouble) => {
  const superuser = await db.session('postgres')
  await superuser.query(`
    create function public.trouble() returns trigger language plpgsql security definer as $$ begin ${trouble}; return new; end $$;
    create trigger trouble before insert on iu_core.ingest_staged_row for each row when (new.row_number = 25000) execute function public.trouble()`)
  try {
    await expect(stage()).rejects.toThrow()
    expect(await latest()).toMatchObject([{ status: 'failed', rows: 0 }])
  } finally {
    await superuser.query('drop function public.trouble cascade')
    await superuser.end()
  }
})

it('leaves no row of either session when its reader was given up meanwhile', async () => {
  let swept: Promise<unknown> | undefined
  const staged = stage({
    onEvent: (event) => {
      if (event.type !== 'progress' || event.stage !== 'check') return
      swept ??= db
        .owner(`update iu_core.ingest_upload set reader_seen_at = 'epoch' where status = 'reading'`)
        .then(() => ads.service('select iu_core.fn_ingest_fail_stalled()'))
    },
  })
  await expect(staged).rejects.toMatchObject({ code: 'reader_replaced' })
  await swept
  expect(await latest()).toEqual([{ status: 'failed', code: 'reader_gone', rows: 0 }])
})
