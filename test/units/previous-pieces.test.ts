/** What marking gets of the cut before is what the next cut will use. */
import { beforeAll, expect, it } from 'vitest'
import { previousPieces } from '../../src/units/cut.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { cutDocument, enact, HANDBOOK, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

it('a piece belongs to the unit that exists, not to a newer one that was deleted', async () => {
  const sourceRef = 'handbook.md'
  await cutDocument(place, HANDBOOK, { sourceRef })
  await enact(place, 'handbook/expenses')
  await cutDocument(place, HANDBOOK.replace('Keep the receipts', 'Burn the receipts'), { sourceRef })
  const text = async () =>
    (await previousPieces(place.agent.session, place.workspace, sourceRef)).find(
      ({ address }) => address === 'handbook/expenses',
    )?.text
  expect(await text()).toContain('Burn')
  const successor = (await unitsOf(place.operator.session, place.workspace, sourceRef)).get(
    'handbook/expenses~2',
  )
  await place.operator.session.query('select iu_core.fn_unit_delete($1)', [successor!.unit_id])
  expect(await text()).toContain('Keep')
})
