/** Retention by schedule: what is deleted hourly, at which minute, and what a failure leads to. */
import { beforeAll, expect, it } from 'vitest'
import { nextTimes } from '../../../src/jobs/schedules.ts'
import { passExpiry, stage } from '../../staging/staged.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { HANDLERS, useReacting } from './reacting.ts'

const db = useDatabase()
const reacting = useReacting(db)
let workspace: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
})

it('is scheduled hourly, staged rows at half past and id resolutions five minutes later', async () => {
  const schedules = await db.owner<{
    schedule: string
    cron: string
    job_kind: string
    minute: number
    soon: boolean
  }>(
    `select schedule, cron, job_kind, time_zone, enabled, extract(minute from next_at)::integer as minute,
            next_at > registered_at and next_at <= registered_at + interval '1 hour' as soon
       from iu_core.job_schedule order by minute`,
  )
  expect(schedules).toEqual(
    [
      ['cleanup_staging_rows', 30],
      ['cleanup_staging_id_resolution', 35],
    ].map(([schedule, minute]) => ({
      schedule,
      cron: `${minute} * * * *`,
      job_kind: schedule,
      time_zone: 'UTC',
      enabled: true,
      minute,
      soon: true,
    })),
  )
  const times = nextTimes(schedules[0]!.cron, 'UTC', new Date('2026-11-16T10:31:00Z'), 2)
  expect(times.map((time) => time.toISOString())).toEqual([
    '2026-11-16T11:30:00.000Z',
    '2026-11-16T12:30:00.000Z',
  ])
})

it('runs each as the role that may, and keeps the counts', async () => {
  await db.owner(
    `with dataset as (
       insert into iu_core.ingest_dataset (dataset, title, version, definition, registered_by) values ('x', 'x', 1, '{}', 'test')
       returning dataset)
     insert into iu_core.ingest_upload (
       upload_id, workspace_id, client_id, dataset, platform, file_name, file_hash, byte_len, status, ended_at, uploaded_by, changed_by)
     select '00000000-0000-7000-8000-000000000001', $1, $1, dataset, 'meta', 'x.csv', repeat('0', 64), 1, 'discarded', now(), 'test', '{}'
       from dataset`,
    [workspace],
  )
  await db.owner(`insert into iu_core.ingest_row_type values ('meta', 'x')`)
  await db.owner(
    `insert into public.staging_rows (upload_id, workspace_id, client_id, platform, row_number, row_type, raw_payload, validation_status, created_at)
     select upload_id, $1, $1, 'meta', 1, 'x', '{}', 'valid', now() - interval '3 days' from iu_core.ingest_upload`,
    [workspace],
  )
  const ids = await reacting.enqueue(
    { job_kind: 'cleanup_staging_rows' },
    { job_kind: 'cleanup_staging_id_resolution' },
  )
  await reacting.start(HANDLERS)
  const [rows, resolutions] = await reacting.reached('completed', ids)
  expect(rows!.result).toEqual({ promoted: 0, invalid: 0, orphaned: 1 })
  expect(resolutions!.result).toEqual({ deleted: 0 })
})

it('is not tried again by itself when it fails: the next hour does that', async () => {
  const ids = await reacting.enqueue({ job_kind: 'cleanup_staging_rows' })
  await reacting.start({
    cleanup_staging_rows: () => {
      throw new Error('the disk is full')
    },
  })
  const [dead] = await reacting.reached('dead', ids)
  expect(dead).toMatchObject({ attempts: 1, last_error: 'Error: the disk is full' })
})

it('sweeps ended records past their retention after something expired, once for many, and only while the gate is open', async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_cleanup_enabled', true)`)
  await reacting.activate('staging_cleanup_sweep')
  const superuser = await db.session('postgres')
  const ids: string[] = []
  for (const _ of [1, 2, 3]) {
    const { staging_record_id: id } = await stage(db.pool('stagedoor_worker'), { workspace })
    await superuser.query('set session_replication_role = replica')
    await passExpiry(superuser, id)
    ids.push(id)
  }
  await db.pool('stagedoor_worker').query('select iu_core.fn_iu_staging_expire()')
  await superuser.query(
    `update iu_core.iu_staging_record set retain_until = clock_timestamp() - interval '1 hour' where staging_record_id = any ($1)`,
    [ids.slice(0, 2)],
  )
  await superuser.end()
  await db.owner(`update iu_core.job_kind set debounce = '1 minute' where job_kind = 'staging_cleanup_sweep'`)
  const jobs = await reacting.dispatch()
  expect(jobs).toHaveLength(1)

  const swept = await runNow()
  expect(swept.result).toEqual({ cleaned: 2 })
  expect(await reacting.dispatch()).toEqual([])
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_cleanup_enabled', false)`)
  expect((await runNow()).result).toMatchObject({ cleaned: 0, skipped: expect.stringContaining('closed') })

  async function runNow() {
    await db.owner(`update iu_core.job_kind set key_mode = 'keep' where job_kind = 'staging_cleanup_sweep'`)
    const made = await reacting.enqueue({ job_kind: 'staging_cleanup_sweep' })
    const worker = await reacting.start(HANDLERS, { pollMs: 20 })
    const [done] = await reacting.reached('completed', made)
    await worker.stop()
    return done!
  }
})
