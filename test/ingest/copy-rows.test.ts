/** A file of several chunks is copied by two sessions: the same rows as by one, all of them or none. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
       from iu_core.ingest_staged_row where upload_id = $1`,
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

describe('rows of a file', () => {
  const HEADER = 'Campaign name,Ad set name,Ad name,Day,Impressions,Amount spent (AUD),Say'
  const ODD = ['a "quoted" name', 'back\\slash', 'tab\tand\nline', '{a,b}', 'NULL', ' ünïcödé 🙂 ', '\u0001']
  const cell = (value: string) => `"${value.replaceAll('"', '""')}"`
  const upload = (run: string) =>
    ads.file(
      `${HEADER}\n${ODD.map((odd, index) => `${cell(`${run} ${odd}`)},Set,Ad,2026-11-0${index + 1},${index},1.50,${cell(odd)}`).join('\n')}\n`,
    )
  const stored = (upload_id: string) =>
    db.owner<{ objects: number; values: number }>(
      `select num_nonnulls(raw_payload, normalized_payload) as objects, num_nonnulls(raw_values, normalized_values) as values
         from iu_core.ingest_staged_row where upload_id = $1 and row_type = 'daily_metric' order by row_number`,
      [upload_id],
    )
  const shown = (upload_id: string) =>
    db.owner<{ raw_payload: Record<string, string>; normalized_payload: Record<string, unknown> }>(
      `select raw_payload, normalized_payload from public.staging_rows where upload_id = $1 and row_type = 'daily_metric' order by row_number`,
      [upload_id],
    )

  it('have no keys in the table, and all of them in the view, whatever their cells hold', async () => {
    const { upload_id } = await upload('Odd')
    expect(await stored(upload_id)).toEqual(ODD.map(() => ({ objects: 0, values: 2 })))
    const rows = await shown(upload_id)
    expect(rows.map(({ raw_payload }) => raw_payload)).toEqual(
      ODD.map((odd, index) => ({
        'Campaign name': `Odd ${odd}`,
        'Ad set name': 'Set',
        'Ad name': 'Ad',
        Day: `2026-11-0${index + 1}`,
        Impressions: String(index),
        'Amount spent (AUD)': '1.50',
        Say: odd,
      })),
    )
    expect(rows.map(({ normalized_payload }) => normalized_payload)).toEqual(
      ODD.map((odd, index) =>
        expect.objectContaining({
          campaign_name: `Odd ${odd}`.trim(),
          date: `2026-11-0${index + 1}`,
          impressions: index,
          spend: 1.5,
          currency: 'AUD',
        }),
      ),
    )
  })

  it('are the same of a small file, whose lines go to DuckDB in a statement that it has planned, and of a large one', async () => {
    const lines = (run: string) => [
      ...ODD.map(
        (odd, index) => `${cell(`${run} ${odd}`)},Set,Ad,2026-11-0${index + 1},${index},1.50,${cell(odd)}`,
      ),
      `${run} wrong,Set,Ad,2026-11-20,many,"1,2,3.5",${cell('a\tb\r\n"c"\\\x01')}`,
      `${run} short,Set,Ad`,
      `${run} replaced,Set,Ad,2026-11-21,7,1.50,\ufffd`,
    ]
    const filler = Array.from(
      { length: 2100 },
      (_, index) =>
        `Filler,Set,Ad,${new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10)},${index},1.50,`,
    )
    const verdicts = (upload_id: string) =>
      db.owner(
        `select row_number, raw_payload, normalized_payload, validation_status, validation_errors, validation_warnings
           from public.staging_rows
          where upload_id = $1 and row_type = 'daily_metric' and normalized_payload ->> 'campaign_name' is distinct from 'Filler'
          order by row_number`,
        [upload_id],
      )
    const small = await ads.file(`${HEADER}\n${lines('Size').join('\n')}\n`)
    const again = await ads.file(`${HEADER}\n${lines('Size').join('\n')}\n\n`)
    const large = await ads.file(`${HEADER}\n${[...lines('Size'), ...filler].join('\n')}\n`)
    const expected = await verdicts(large.upload_id)
    expect(expected).toHaveLength(ODD.length + 3)
    expect(await verdicts(small.upload_id)).toEqual(expected)
    expect(await verdicts(again.upload_id)).toEqual(expected)
  })

  it('that an earlier version staged as objects are planned, promoted and undone as they are', async () => {
    const { upload_id } = await upload('Earlier')
    const before = await shown(upload_id)
    await db.owner(
      `update iu_core.ingest_staged_row s
          set raw_payload = v.raw_payload, raw_values = null, normalized_payload = v.normalized_payload, normalized_values = null
         from iu_core.v_ingest_staged_row v where v.id = s.id and s.upload_id = $1`,
      [upload_id],
    )
    await db.owner(
      `update iu_core.ingest_upload set staged_cells = null, staged_members = null, staged_json = null, reading = reading #- '{layout,packing}'
        where upload_id = $1`,
      [upload_id],
    )
    expect(await shown(upload_id)).toEqual(before)
    const [plan] = await ads.service<{ digest: string }>(`select digest from iu_core.fn_ingest_plan($1)`, [
      upload_id,
    ])
    await ads.service(`select iu_core.fn_ingest_promote($1, $2, 'test')`, [upload_id, plan!.digest])
    const metrics = () =>
      db.owner<{ n: number; spend: string }>(
        `select count(*)::int as n, sum(m.spend)::text as spend from public.daily_metrics m join public.campaigns c on c.id = m.campaign_id
          where c.name like 'Earlier%'`,
      )
    expect(await metrics()).toEqual([{ n: ODD.length, spend: expect.stringMatching(/^10\.50*$/) }])
    const [undo] = await ads.service<{ digest: string }>(
      `select digest from iu_core.fn_ingest_undo_plan($1)`,
      [upload_id],
    )
    await ads.service(`select iu_core.fn_ingest_undo($1, $2)`, [upload_id, undo!.digest])
    expect(await metrics()).toEqual([{ n: 0, spend: null }])
  })

  it('become objects where the back end changes one of them, and stay as they are elsewhere', async () => {
    const { upload_id } = await upload('Changed')
    const before = await shown(upload_id)
    await ads.service(
      `update public.staging_rows set raw_payload = raw_payload || '{"Say": "more"}' where upload_id = $1 and row_number = 2`,
      [upload_id],
    )
    await ads.service(
      `update public.staging_rows set batch_id = null where upload_id = $1 and row_number = 3`,
      [upload_id],
    )
    const after = await shown(upload_id)
    expect(after).toEqual(
      before.map((row, index) =>
        index === 0 ? { ...row, raw_payload: { ...row.raw_payload, Say: 'more' } } : row,
      ),
    )
    expect((await stored(upload_id)).slice(0, 2)).toEqual([
      { objects: 1, values: 1 },
      { objects: 0, values: 2 },
    ])
  })
})
