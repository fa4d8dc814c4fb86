import { afterEach, expect, it } from 'vitest'
import { Snowflakes } from '../../../src/executions/engine/snowflake.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
const clockIs = (ahead: number) =>
  db.owner(
    `select setval('noetl.snowflake_clock', floor(extract(epoch from clock_timestamp()) * 1000)::bigint - 1704067200000 + $1)`,
    [ahead],
  )

afterEach(() => clockIs(0))

it('gives ids of node 0 that rise with time and are never equal', async () => {
  const rows = await Promise.all(
    Array.from({ length: 8 }, () =>
      engines.rows<{ id: string }>('select noetl.fn_snowflake() as id from generate_series(1, 300)'),
    ),
  )
  const ids = rows.flat().map((row) => BigInt(row.id))
  expect(new Set(ids).size).toBe(2400)
  for (const id of ids) expect((id >> 12n) & 1023n).toBe(0n)
  const later = BigInt(await engines.newId())
  expect(later >> 22n >= ids[0]! >> 22n).toBe(true)
})

it('says the moment of an id and the least id of a moment, as the ids of engines do', async () => {
  const at = new Date('2026-11-16T12:00:00.123Z')
  const id = new Snowflakes(0, { now: () => at.getTime() }).next()
  expect(
    await engines.rows('select noetl.fn_snowflake_time($1) as at, noetl.fn_snowflake_floor($2) as floor', [
      id,
      at,
    ]),
  ).toEqual([{ at, floor: id }])
})

it('waits for a clock that went back a little, and raises for one that went back by more than 50 ms', async () => {
  await clockIs(40)
  const started = performance.now()
  await engines.newId()
  expect(performance.now() - started).toBeGreaterThan(20)
  await clockIs(5000)
  expect(await sqlstateOf(engines.newId())).toBe('SD809')
})
