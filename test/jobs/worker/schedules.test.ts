import pino from 'pino'
import { describe, expect, it } from 'vitest'
import {
  deleteSchedule,
  fireDue,
  listSchedules,
  nextTime,
  nextTimes,
  setSchedule,
  startScheduler,
} from '../../../src/jobs/schedules.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)
const callbacks = { onFire: () => {}, onError: (error: unknown) => expect.fail(String(error)) }

const iso = (times: Date[]): string[] => times.map((time) => time.toISOString().slice(5, 16))

describe('a cron line in a time zone', () => {
  it('for an hour that does not exist when clocks go forward runs right after it', () => {
    const times = nextTimes('30 2 * * *', 'Europe/Berlin', new Date('2026-03-27T12:00:00Z'), 3)
    expect(iso(times)).toEqual(['03-28T01:30', '03-29T01:30', '03-30T00:30'])
  })

  it('for an hour that comes twice when clocks go back runs once', () => {
    const times = nextTimes('30 2 * * *', 'Europe/Berlin', new Date('2026-10-23T12:00:00Z'), 3)
    expect(iso(times)).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30'])
  })

  it('for every hour or every few minutes runs through the repeated hour without a gap', () => {
    const hourly = nextTimes('0 * * * *', 'Europe/Berlin', new Date('2026-10-24T22:30:00Z'), 5)
    expect(iso(hourly)).toEqual(['10-24T23:00', '10-25T00:00', '10-25T01:00', '10-25T02:00', '10-25T03:00'])
    const often = nextTimes('*/30 * * * *', 'Australia/Lord_Howe', new Date('2026-04-04T14:00:00Z'), 4)
    expect(iso(often)).toEqual(['04-04T14:30', '04-04T15:00', '04-04T15:30', '04-04T16:00'])
    const minutes = nextTimes('* * * * *', 'America/New_York', new Date('2026-11-01T05:58:00Z'), 65)
    expect(minutes.at(-1)!.toISOString()).toBe('2026-11-01T07:03:00.000Z')
  })

  it('agrees with the local time on every day of a year, in zones that change it in their own ways', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo']) {
      const wall = new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'short',
      })
      const days = nextTimes('15 0 * * *', zone, new Date('2025-12-31T12:00:00Z'), 366)
      const seen = new Set(days.map((time) => wall.format(time).slice(0, 10)))
      expect(seen.size, zone).toBe(366)
      // In Cairo clocks go forward at midnight: that day it is 01:15.
      const odd = days.filter((time) => wall.format(time).slice(-5) !== '00:15')
      expect(odd, zone).toHaveLength(zone === 'Africa/Cairo' ? 1 : 0)
      const changes = [
        '2026-03-07',
        '2026-03-28',
        '2026-04-04',
        '2026-04-23',
        '2026-10-03',
        '2026-10-24',
        '2026-10-29',
      ]
      for (const day of [...changes, '2026-10-31']) {
        const quarters = nextTimes('*/15 * * * *', zone, new Date(`${day}T12:00:00Z`), 100)
        expect(quarters.at(-1)!.getTime() - quarters[0]!.getTime(), `${zone} ${day}`).toBe(99 * 15 * 60_000)
      }
    }
  })

  it('that cannot be read, or a zone that does not exist, is refused in words', () => {
    const from = new Date()
    expect(() => nextTime('61 * * * *', 'UTC', from)).toThrow(/"61 \* \* \* \*" is not a cron line/)
    expect(() => nextTime('0 0 30 2 *', 'UTC', from)).toThrow(/no time that is still to come/)
    expect(() => nextTime('* * * * *', 'Mars/Olympus', from)).toThrow(/Mars\/Olympus is not a time zone/)
  })
})

describe('a schedule', () => {
  const pool = () => db.pool('stagedoor_worker')
  const later = (ms: number) => new Date(Date.now() + ms)

  async function fired(kind: string): Promise<string[]> {
    const rows = await db.owner<{ idempotency_key: string }>(
      'select idempotency_key from iu_core.job_key where job_kind = $1 order by 1',
      [kind],
    )
    return rows.map((row) => row.idempotency_key)
  }

  async function nextOf(name: string): Promise<Date> {
    return (await listSchedules(pool())).find(({ schedule }) => schedule === name)!.next_at
  }

  it('fires each time exactly once, however many schedulers look at it', async () => {
    await setSchedule(pool(), { schedule: 'crowded', cron: '* * * * * *', job_kind: 'crowded' })
    const now = later(2000)
    const before = await nextOf('crowded')
    await Promise.all(Array.from({ length: 8 }, () => fireDue(pool(), callbacks, now)))
    expect(await fired('crowded')).toEqual([`schedule:crowded:${before.toISOString().replace('.000Z', 'Z')}`])
    await deleteSchedule(pool(), 'crowded')
  })

  it('that was missed many times makes up for them with one job', async () => {
    await setSchedule(pool(), { schedule: 'missed', cron: '0 * * * *', job_kind: 'missed' })
    const now = later(50 * 3_600_000)
    await fireDue(pool(), callbacks, now)
    await fireDue(pool(), callbacks, now)
    expect(await fired('missed')).toHaveLength(1)
    expect((await nextOf('missed')).getTime()).toBeGreaterThan(now.getTime())
    await deleteSchedule(pool(), 'missed')
  })

  it('is fired by the database’s clock: a machine whose clock is an hour ahead fires nothing early', async () => {
    await setSchedule(pool(), { schedule: 'early', cron: '0 0 1 1 *', job_kind: 'early' })
    const next_at = await nextOf('early')
    const { rows } = await pool().query('select iu_core.fn_job_schedule_fire($1, $2, $3) as job', [
      'early',
      next_at,
      nextTime('0 0 1 1 *', 'UTC', next_at),
    ])
    expect(rows).toEqual([{ job: null }])
    await deleteSchedule(pool(), 'early')
  })

  it('whose line cannot be used any more does not keep the others', async () => {
    await setSchedule(pool(), { schedule: 'broken', cron: '* * * * *', job_kind: 'broken' })
    await setSchedule(pool(), { schedule: 'sound', cron: '* * * * *', job_kind: 'sound' })
    await db
      .pool('postgres')
      .query(`update iu_core.job_schedule set cron = 'nonsense' where schedule = 'broken'`)
    const refused: unknown[] = []
    await fireDue(pool(), { onFire: () => {}, onError: (error) => refused.push(error) }, later(120_000))
    expect(refused).toHaveLength(1)
    expect(await fired('sound')).toHaveLength(1)
    for (const schedule of ['broken', 'sound']) await deleteSchedule(pool(), schedule)
  })

  it('runs in a worker, and its job says where it came from', async () => {
    const seen: unknown[] = []
    await jobs.start(
      { ticking: async (job) => void seen.push({ ref: job.source_ref, payload: job.payload }) },
      { schedules: true },
    )
    await setSchedule(pool(), {
      schedule: 'ticking',
      cron: '* * * * * *',
      job_kind: 'ticking',
      payload: { list: 'weekly' },
    })
    await until('it ran', () => seen.length > 0)
    expect(seen[0]).toEqual({ ref: 'schedule:ticking', payload: { list: 'weekly' } })
    await deleteSchedule(pool(), 'ticking')
  })

  it('goes on after the database was unavailable', async () => {
    const own = jobs.pool('scheduling')
    const seen: string[] = []
    const scheduler = startScheduler(own, {
      log: pino({ level: 'silent' }),
      onFire: (name) => seen.push(name),
    })
    await setSchedule(pool(), { schedule: 'steady', cron: '* * * * * *', job_kind: 'steady' })
    await until('it fires', () => seen.length > 0)
    await db
      .pool('postgres')
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like '%scheduling'`,
      )
    const before = seen.length
    await until('it fires again', () => seen.length > before)
    await scheduler.stop()
    await deleteSchedule(pool(), 'steady')
  })
})
