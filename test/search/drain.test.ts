/** Working off what is due ends, whatever is closed, and says what keeps the rest waiting. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { setGate } from '../../src/gates/gates.ts'
import { drainOutbox, type SearchWorker } from '../../src/search/worker.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'
import { type CreatedUnit, create, useLife } from '../units/life.ts'
import { documentIn } from './projecting.ts'
import { stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: CreatedUnit
beforeEach(async () => {
  unit = await create(life, { body: 'Sails are mended.' })
  await place.due()
})
const gate = (name: string, open: boolean) => setGate(db.pool(MIGRATOR), name, open)
const EXCLUDED = 'iu_core.no_vector_staging_excluded'
const phases = async (open: boolean) => {
  for (const number of open ? [1, 2, 3] : [3, 2, 1]) await gate(`search.phase_${number}.enabled`, open)
}
afterEach(async () => {
  await gate(EXCLUDED, true)
  await phases(true)
  await place.settle()
})

/** Projects every row that it may claim. */
const startWorker = async (): Promise<SearchWorker> => {
  await place.settle()
  return { stop: async () => {} } as SearchWorker
}
const SOME = expect.toSatisfy((count: number) => count > 0)
const left = () => drainOutbox({ pool: db.pool('stagedoor_worker'), workspace: life.workspace, startWorker })

it('ends when all is done', async () => {
  expect(await left()).toEqual({ due: 0, waiting: 0, outage: null, closed: null })
  expect(await stateOf(db, unit.unit_id)).toBe('current')
})

it('does not wait for units while phase 1 is closed, and says so; documents are drained', async () => {
  await phases(false)
  const document = await documentIn(db, life, 'Sails of old.')
  await place.due()
  expect(await left()).toMatchObject({
    due: 0,
    waiting: SOME,
    closed: expect.stringMatching(/phase 1 is closed/),
  })
  const [row] = await db.owner('select vector_state from iu_core.v_document where document_id = $1', [
    document,
  ])
  expect(row).toEqual({ vector_state: 'current' })
})

it('does not wait for what a dead worker left while phase 1 is closed', async () => {
  await place.worker().claim()
  await db.owner(
    `update iu_core.vector_outbox set leased_until = now() - interval '1 minute' where unit_id = $1`,
    [unit.unit_id],
  )
  await phases(false)
  expect(await left()).toMatchObject({ due: 0, waiting: SOME, closed: expect.stringMatching(/phase 1/) })
})

it('waits for nothing while the gate that keeps staging out is closed, and says so', async () => {
  await gate(EXCLUDED, false)
  expect(await left()).toMatchObject({ due: 0, waiting: SOME, closed: expect.stringContaining(EXCLUDED) })
})
