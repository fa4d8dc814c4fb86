/** Workers that are killed with -9 in the middle of whatever they do: nothing is lost, and nothing deleted comes back. */
// @module-tag property
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { auditSearch } from '../../src/search/audit.ts'
import { openProviders } from '../../src/search/providers.ts'
import { compile, type Program, standBy } from '../chaos/program.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'
import { call, edit, useLife } from '../units/life.ts'

const db = useDatabase()
const life = useLife(db)
const UNITS = cases(60, 200)
const KILLS = cases(3, 8)
const home = temporaryHome('kill')
const failures: string[] = []
let file: string
let program: Program | undefined

beforeAll(() => {
  file = compile(home, ['search-worker.ts'])('search-worker.ts')
})
afterAll(async () => {
  if (!program) return
  program.doomed = true
  program.child.kill('SIGTERM')
  await program.ended
})

const start = () => {
  const next = standBy(file, { url: db.url('stagedoor_worker') }, (why) => failures.push(why))
  next.go()
  return next
}

it('loses nothing', async () => {
  const units = Array.from({ length: UNITS }, (_, n) => ({
    canonical_address: `kill/u${n}`,
    body: `Cargo number ${n} is ${'heavy '.repeat(n % 50)}and late.`,
  }))
  await call(life.operator, 'fn_unit_create_batch', {
    p_workspace_id: life.workspace,
    p_units: JSON.stringify(units),
  })
  const all = await db.owner<{ unit_id: string }>(
    'select unit_id from iu_core.information_unit order by unit_id',
  )
  const now = () => call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
  const done = async () => {
    const [row] = await db.owner<{ n: number }>(
      `select count(*)::int as n from iu_core.vector_outbox where status = 'done'`,
    )
    return row!.n
  }
  for (let kill = 0; kill < KILLS; kill++) {
    program = start()
    await now()
    await until('it works', () => program!.ready)
    const before = await done()
    await until('it is in the middle of it', async () => (await done()) > before || (await done()) >= UNITS)
    // Somewhere else in the batch each time.
    await delay(kill * 7)
    program.doomed = true
    program.child.kill('SIGKILL')
    await once(program.child, 'exit')
    await edit(life.operator, all[kill]!.unit_id, 1, { p_body: `Cargo ${kill} was weighed again.` })
    await call(life.operator, 'fn_unit_delete', { p_unit_id: all[UNITS - 1 - kill]!.unit_id })
  }
  program = start()
  await until(
    'everything is done',
    async () => {
      await now()
      return (await done()) === UNITS
    },
    120_000,
  )
  const states = await db.owner<{ vector_state: string; n: number }>(
    'select vector_state, count(*)::int as n from iu_core.v_unit group by 1 order by 1',
  )
  expect(states).toEqual([
    { vector_state: 'current', n: UNITS - KILLS },
    { vector_state: 'retired', n: KILLS },
  ])
  const pool = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 2 })
  const providers = openProviders(pool, {
    embeddingsUrl: undefined,
    embeddingsApiKey: undefined,
    qdrantUrl: undefined,
    qdrantApiKey: undefined,
  })
  const worker = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 1 })
  const report = await auditSearch({ pool, worker, providers })
  await worker.end()
  await providers.close()
  await pool.end()
  expect(report.findings).toEqual([])
  const [chunks] = await db.owner<{ n: number }>('select count(*)::int as n from iu_core.search_chunk')
  expect(report.collections.find(({ state }) => state === 'active')).toMatchObject({ points: chunks!.n })
  expect(
    await db.owner(`select from iu_core.vector_outbox where retry_count > 0 or status = 'dead_letter'`),
  ).toEqual([])
  expect(failures).toEqual([])
})
