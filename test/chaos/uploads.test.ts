/**
 * Readers of uploads are killed and frozen at random moments: another process reads the file, every line is staged once, every event
 * happens once, and a reader that was cut off writes nothing. Counted from tables.
 */
// @module-tag property
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HEADER } from '../http/uploads/uploads-api.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { cases } from '../support/length.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { compile } from './program.ts'

const KILLS = cases(3, 20)
const LINES = 4000
const db = useDatabase()
const ads = useIngest(db)
const programs = temporaryHome('upload-readers')
const running = new Set<ChildProcess>()
let program: string

beforeAll(async () => {
  program = compile(join(programs, 'programs'), ['upload-reader.ts'])('upload-reader.ts')
  // Chunks of a chosen length are not needed: a slow COPY makes every moment of a reading long enough to be hit.
  await db.owner(`
    create function public.slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return null; end $$;
    create trigger slowly after insert on iu_core.ingest_staged_row for each statement execute function public.slowly();
    create trigger slowly after insert on iu_core.ingest_plan for each statement execute function public.slowly()`)
})
afterAll(async () => {
  for (const child of running) await end(child, 'SIGKILL')
})

async function start(): Promise<ChildProcess> {
  const orders = JSON.stringify({ url: db.url('stagedoor_worker'), home: ads.home })
  const child = spawn(process.execPath, [program, orders], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  await once(child.stdout!, 'data')
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
  running.delete(child)
}

let files = 0
async function queue(): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, line) => `File ${files},B,Ad ${line},2026-11-01,1.00,1,1`)
  files += 1
  return ads.queue([HEADER, ...lines].join('\n'))
}

/** It waits for a job, is read, is planned, or is done. */
async function isTaken(upload: string): Promise<boolean> {
  const rows = await db.owner(
    'select from iu_core.job_queue where target_ref = $1 and leased_by is not null and begun',
    [upload],
  )
  return rows.length === 1
}

const planned = (upload: string) =>
  until(
    'it is planned',
    async () => {
      const found = await ads.find(upload)
      if (found.status === 'failed') throw new Error(JSON.stringify(found.error))
      return found.status === 'planned' && found
    },
    180_000,
  )

async function expectOnce(upload: string): Promise<void> {
  expect(await planned(upload)).toMatchObject({ line_count: LINES, valid_count: LINES, error: null })
  const [rows] = await db.owner(
    `select count(*)::int as lines, count(distinct row_number)::int as numbers from public.staging_rows
      where upload_id = $1 and row_type = (select reading -> 'layout' ->> 'leaf' from iu_core.ingest_upload where upload_id = $1)`,
    [upload],
  )
  expect(rows).toEqual({ lines: LINES, numbers: LINES })
  const events = await db.owner(
    'select event_type, count(*)::int as times from iu_core.event_outbox where event_subject_ref = $1 group by 1 order by 1',
    [upload],
  )
  expect(events).toEqual([
    { event_type: 'ingestion_planned', times: 1 },
    { event_type: 'ingestion_staged', times: 1 },
  ])
  await until('nothing is left to do', async () => {
    const left = await db.owner('select from iu_core.ingest_reading where upload_id = $1', [upload])
    const jobs = await db.owner('select from iu_core.job_queue where target_ref = $1', [upload])
    return left.length + jobs.length === 0
  })
}

it(`loses and doubles nothing when its reader is killed at ${KILLS} random moments`, async () => {
  let attempts = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const first = await start()
    const upload = await queue()
    await until('it is taken', () => isTaken(upload))
    await delay(Math.random() * 1500)
    await end(first, 'SIGKILL')
    const second = await start()
    await expectOnce(upload)
    await end(second, 'SIGKILL')
    const [job] = await db.owner<{ crashes: number }>(
      'select crashes from iu_core.job_history where target_ref = $1',
      [upload],
    )
    attempts += job!.crashes
  }
  console.log(`${attempts} of ${KILLS} kills hit the reader while it read`)
})

it('writes nothing after another process took over from a reader that was frozen', async () => {
  const frozen = await start()
  const upload = await queue()
  await until('it copies rows', async () => {
    const rows = await db.owner(
      `select from pg_stat_activity where datname = current_database() and query ilike 'copy iu_core.ingest_staged_row%' and state = 'active'`,
    )
    return rows.length > 0 || !(await isTaken(upload))
  })
  frozen.kill('SIGSTOP')
  const second = await start()
  await expectOnce(upload)
  const image = () =>
    db.owner(
      `select u.*, (select count(*) from public.staging_rows s where s.upload_id = u.upload_id) as rows,
              (select p.digest from iu_core.ingest_plan p where p.upload_id = u.upload_id) as digest
         from iu_core.ingest_upload u where upload_id = $1`,
      [upload],
    )
  const before = await image()
  frozen.kill('SIGCONT')
  await until('it has registered again', async () => {
    const rows = await db.owner('select from iu_core.job_worker where leased_until > clock_timestamp()')
    return rows.length === 2
  })
  // It reads another file to its end: whatever it had to say about the first one was said.
  await end(second, 'SIGKILL')
  const other = await queue()
  await expectOnce(other)
  expect(await image()).toEqual(before)
  await end(frozen, 'SIGKILL')
})

it('goes on elsewhere after the process that read its own file was killed, and keeps no file in the end', async () => {
  const reader = await start()
  const upload = await queue()
  // As the command line does it: no job, and a heartbeat that stopped a minute ago.
  await planned(upload)
  await end(reader, 'SIGKILL')
  const pool = db.pool('stagedoor_worker')
  const inline = await queue()
  await db.owner('update iu_core.ingest_reading set job_id = null where upload_id = $1', [inline])
  await db.owner('delete from iu_core.job_queue where target_ref = $1', [inline])
  await db.owner(
    `update iu_core.ingest_upload set reader_seen_at = now() - interval '2 minutes' where upload_id = $1`,
    [inline],
  )
  const next = await start()
  await pool.query('select iu_core.fn_ingest_fail_stalled()')
  await expectOnce(inline)
  await until('its file is deleted', () => {
    const found = readdirSync(join(ads.home, 'uploads'), { recursive: true, withFileTypes: true })
    return found.every((entry) => !entry.isFile())
  })
  await end(next, 'SIGKILL')
})
