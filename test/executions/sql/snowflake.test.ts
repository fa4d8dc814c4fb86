import { afterEach, expect, it } from 'vitest'
import { SnowflakeIds } from '../../../src/executions/engine/engine.ts'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
/** In milliseconds, as ids count them. */
const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint - 1704067200000'

/** Returns what the clock of the ids is then. */
async function clockIs(ahead: number): Promise<number> {
  const [row] = await db.owner<{ at: string }>(`select setval('noetl.snowflake_clock', ${NOW} + $1) as at`, [
    ahead,
  ])
  return Number(row!.at)
}

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
  const id = new SnowflakeIds(0, { now: () => at.getTime() }).next()
  expect(
    await engines.rows('select noetl.fn_snowflake_time($1) as at, noetl.fn_snowflake_floor($2) as floor', [
      id,
      at,
    ]),
  ).toEqual([{ at, floor: id }])
})

it('waits for a clock that went back a little, and raises for one that went back by more than 50 ms', async () => {
  const at = await clockIs(40)
  const id = await engines.newId()
  const [row] = await db.owner<{ now: string }>(`select ${NOW} as now`)
  // Not given before its time has come.
  expect(Number(row!.now)).toBeGreaterThanOrEqual(at)
  expect(Number(BigInt(id) >> 22n)).toBeGreaterThanOrEqual(at)
  await clockIs(60_000)
  expect(await sqlstateOf(engines.newId())).toBe('SD809')
})
