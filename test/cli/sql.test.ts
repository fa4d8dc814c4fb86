/** `stagedoor sql` shows values as PostgreSQL prints them, wherever it runs. */
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const STATEMENTS = `set time zone 'UTC'; select date '1980-05-05' as day, time '07:08' as hour,
  timestamp '1980-05-05 00:30' as at, timestamptz '1980-05-05 00:30+00' as moment, interval '1 day 2 hours' as duration,
  array[date '1980-05-05'] as days, 7 as number`

const sql = (...flags: string[]) =>
  runCli(['sql', STATEMENTS, ...flags], {
    TZ: 'Europe/Berlin',
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
  })

it('shows dates and times as PostgreSQL prints them, whatever the time zone of the process', async () => {
  const { code, stdout, stderr } = await sql()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /1980-05-05 +07:08:00 +1980-05-05 00:30:00 +1980-05-05 00:30:00\+00 +1 day 02:00:00 +\["1980-05-05"\] +7\n/,
  )
})

it('also in JSON', async () => {
  const { code, stdout } = await sql('--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)[1].rows).toEqual([
    {
      day: '1980-05-05',
      hour: '07:08:00',
      at: '1980-05-05 00:30:00',
      moment: '1980-05-05 00:30:00+00',
      duration: '1 day 02:00:00',
      days: ['1980-05-05'],
      number: 7,
    },
  ])
})
