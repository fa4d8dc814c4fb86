/** Two workers put and remove the same and different texts at once: nothing is counted twice, nothing is forgotten. */
// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { create, edit, useLife } from '../units/life.ts'
import { discrepancies, documentIn, sourcesOf } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)

const WORDS = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', 'hen', 'ibis', 'jay']
const RUNS = cases(5, 25)

const body = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 60 })
  .map((words) => words.join(' '))
const step = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    units: fc.uniqueArray(fc.nat(5), { minLength: 1 }),
    size: fc.constantFrom(20, 60, 2000),
  }),
  fc.record({ do: fc.constant('edit' as const), unit: fc.nat(5), body }),
  fc.record({ do: fc.constant('remove' as const), units: fc.uniqueArray(fc.nat(5), { minLength: 1 }) }),
)

it('leaves statistics, postings and counts of words equal to a recount after any steps of two sessions at once', async () => {
  const units: string[] = []
  for (const word of WORDS.slice(0, 6)) units.push((await create(life, { body: word })).unit_id)
  await documentIn(db, life, 'ant bee cat')
  const sessions = [await db.session(), await db.session()]
  for (const session of sessions) await session.query('set role workflow_admin')
  const run = async (
    session: (typeof sessions)[number],
    steps: (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
  ) => {
    for (const one of steps) {
      if (one.do === 'remove') {
        const sources = one.units.map((n) => ({ unit_id: units[n], chunks: null }))
        await session.query('select iu_core.fn_search_text_put($1)', [JSON.stringify(sources)])
      } else if (one.do === 'edit') await changeBody(units[one.unit]!, one.body)
      else {
        const sources = await sourcesOf(
          db,
          one.units.map((n) => units[n]!),
          one.size,
        )
        await session.query('select iu_core.fn_search_text_put($1)', [JSON.stringify(sources)])
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.array(step, { maxLength: 8 }),
      async (one, other) => {
        await Promise.all([run(sessions[0]!, one), run(sessions[1]!, other)])
        expect(await discrepancies(db)).toEqual([])
      },
    ),
    { numRuns: RUNS },
  )
})

/** Whoever is second reads again; that is not what is tested here. */
async function changeBody(unit: string, text: string): Promise<void> {
  const [row] = await db.owner<{ version_no: number }>(
    'select version_no from iu_core.information_unit where unit_id = $1',
    [unit],
  )
  await edit(life.service, unit, row!.version_no, { p_body: text }).catch(() => undefined)
}
