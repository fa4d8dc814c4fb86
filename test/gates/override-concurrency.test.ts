import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

const GATE = 'iu_core.staging_writes_enabled'
/** A wait for another's lock is an error at once, not a slow test. */
const NO_WAITING = `set lock_timeout = '1s'`

async function withOverride() {
  const session = await db.session()
  await session.query(NO_WAITING)
  await session.query('begin')
  await session.query(`select iu_core.fn_gate_override('${GATE}', true)`)
  const { rows } = await session.query<{ open: boolean }>(`select iu_core.fn_gate_open('${GATE}') as open`)
  return { session, open: rows[0]!.open }
}

it('lets 50 writers hold an override each at the same time without waiting for each other', async () => {
  const writers = await Promise.all(Array.from({ length: 50 }, withOverride))
  // All 50 are inside their transactions now: none has committed, none waits.
  expect(writers.map((writer) => writer.open)).toEqual(Array(50).fill(true))
  await Promise.all(writers.map(({ session }, index) => session.query(index % 2 ? 'commit' : 'rollback')))
  expect(await db.owner('select from iu_core.dot_config_override')).toEqual([])
  await Promise.all(writers.map(({ session }) => session.end()))
})

it('neither delays nor is delayed by an administrator who changes the gate for everybody', async () => {
  const first = await withOverride()
  const administrator = await db.session()
  await administrator.query(`${NO_WAITING}; begin`)
  await administrator.query(`select iu_core.fn_gate_set('${GATE}', true)`)
  const second = await withOverride()
  await administrator.query('commit')
  await first.session.query('commit')
  await second.session.query('commit')
  expect(await db.owner(`select value from iu_core.dot_config where key = '${GATE}'`)).toEqual([
    { value: 'true' },
  ])
})
