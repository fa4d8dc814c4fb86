import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

it('is a version 7 uuid whose first 48 bits are the time in milliseconds', async () => {
  const [row] = await db.owner<{ id: string; before: string; after: string }>(
    `select floor(extract(epoch from clock_timestamp()) * 1000) as before, iu_core.fn_time_uuid() as id,
            floor(extract(epoch from clock_timestamp()) * 1000) as after`,
  )
  expect(row!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const time = Number.parseInt(row!.id.replaceAll('-', '').slice(0, 12), 16)
  expect(time).toBeGreaterThanOrEqual(Number(row!.before))
  expect(time).toBeLessThanOrEqual(Number(row!.after))
})

it('rises within a session and is never given twice', async () => {
  const [row] = await db.owner<{ ids: string; distinct: string; falling: string }>(
    `select count(*) as ids, count(distinct id) as distinct, count(*) filter (where id <= previous) as falling
       from (select id, lag(id) over (order by n) as previous
               from (select n, iu_core.fn_time_uuid() as id from generate_series(1, 20000) as n) as made) as pairs`,
  )
  expect(row).toEqual({ ids: '20000', distinct: '20000', falling: '0' })
})

it('is never given twice to sessions that ask at the same time', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      db
        .pool('stagedoor_worker')
        .query<{ id: string }>('select iu_core.fn_time_uuid() as id from generate_series(1, 2000)'),
    ),
  )
  expect(new Set(answers.flatMap(({ rows }) => rows.map((row) => row.id))).size).toBe(16_000)
})

it('has a floor for every moment, below all ids of that millisecond and above all of the one before', async () => {
  const [row] = await db.owner<{ holds: boolean }>(
    `select bool_and(floor <= id and prior < floor) as holds
       from (select id, iu_core.fn_time_uuid_floor(moment) as floor,
                    (left((iu_core.fn_time_uuid_floor(moment - interval '1 millisecond'))::text, 13) || '-7fff-bfff-ffffffffffff')::uuid as prior
               from (select id, to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
                              + part * interval '1 microsecond' as moment
                       from (select iu_core.fn_time_uuid() as id from generate_series(1, 100)) as ids,
                            unnest(array[0, 1, 499, 500, 501, 999]) as part) as moments) as bounds`,
  )
  expect(row).toEqual({ holds: true })
})

it('has a floor that rises with time', async () => {
  const rows = await db.owner<{ floor: string }>(
    `select iu_core.fn_time_uuid_floor(t) as floor
       from unnest(array['1970-01-01Z', '1999-12-31 23:59:59.999Z', '2000-01-01Z', '2026-07-01Z', '9999-12-31Z']::timestamptz[]) as t`,
  )
  const floors = rows.map((row) => row.floor)
  expect(floors).toEqual([...floors].sort())
  expect(floors[0]).toBe('00000000-0000-0000-0000-000000000000')
})
