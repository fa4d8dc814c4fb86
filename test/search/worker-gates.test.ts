/** Switches of the projection: what keeps staging out, and the phases of the migration from the old knowledge base, in order. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setGate } from '../../src/gates/gates.ts'
import { msUntilDue } from '../../src/search/outbox.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { MIGRATOR } from '../support/template.ts'
import { type CreatedUnit, call, create, useLife } from '../units/life.ts'
import { rowOf, stateOf, useProjecting } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
let unit: CreatedUnit
beforeEach(async () => {
  unit = await create(life, { body: 'Ropes are kept dry.' })
})
const gate = (name: string, open: boolean) => setGate(db.pool(MIGRATOR), name, open)
const EXCLUDED = 'iu_core.no_vector_staging_excluded'
const phase = (number: number) => `search.phase_${number}.enabled`

afterEach(async () => {
  await db.owner(
    `insert into iu_core.dot_config (key, value, description) values ($1, 'true', 'back') on conflict do nothing`,
    [EXCLUDED],
  )
  for (const name of [EXCLUDED, phase(1), phase(2), phase(3)]) await gate(name, true)
  await place.settle()
})

const nothing = async () => {
  const calls = place.embedder.calls
  await place.due()
  expect(await place.worker().claim()).toEqual([])
  expect(await rowOf(db, unit.unit_id)).toMatchObject({ status: 'pending' })
  expect(await db.owner('select from iu_core.search_chunk where unit_id = $1', [unit.unit_id])).toEqual([])
  expect(place.embedder.calls).toBe(calls)
}

it.each([
  ['closed', () => gate(EXCLUDED, false)],
  ['missing', () => db.owner('delete from iu_core.dot_config where key = $1', [EXCLUDED])],
])(
  'with the gate that keeps staging out %s, nothing is embedded and no text is taken; it is read every batch',
  async (_, shut) => {
    await shut()
    await nothing()
    await gate(EXCLUDED, true).catch(() =>
      db.owner(`insert into iu_core.dot_config (key, value, description) values ($1, 'true', 'back')`, [
        EXCLUDED,
      ]),
    )
    await place.settle()
    expect(await stateOf(db, unit.unit_id)).toBe('current')
  },
)

describe('phase 1', () => {
  const close = async () => {
    for (const number of [3, 2, 1]) await gate(phase(number), false)
  }

  it('closed, leaves units where they are and takes documents', async () => {
    await close()
    const document = await call<{ fn_document_put: string }>(life.service, 'fn_document_put', {
      p_workspace_id: life.workspace,
      p_source_ref: 'kb:ropes',
      p_title: 'Ropes',
      p_body: 'Old ropes.',
    })
    await place.due()
    const taken = await place.worker().claim()
    expect(taken.map((row) => row.document_id)).toEqual([document.fn_document_put])
    await db.owner(
      `update iu_core.vector_outbox set status = 'pending', leased_until = null where status = 'processing'`,
    )
  })

  it('closed, is no reason to wake up for a unit that a dead worker left', async () => {
    await place.due()
    await place.worker().claim()
    await db.owner(
      `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
    )
    await close()
    await place.due()
    expect(await place.worker().claim()).toEqual([])
    expect(await msUntilDue(place.pool, { phase_1: false })).toBeUndefined()
    expect(await msUntilDue(place.pool, { phase_1: true })).toBeLessThan(0)
  })

  it('closed, lets out what was deleted', async () => {
    await place.settle()
    await close()
    await call(life.operator, 'fn_unit_delete', { p_unit_id: unit.unit_id })
    await place.settle()
    expect(await db.owner('select from iu_core.search_chunk where unit_id = $1', [unit.unit_id])).toEqual([])
  })
})

describe('the phases', () => {
  it('are opened one after the other, and closed in reverse', async () => {
    expect(await sqlstateOf(gate(phase(1), false))).toBe('SD914')
    expect(await sqlstateOf(gate(phase(2), false))).toBe('SD914')
    await gate(phase(3), false)
    await gate(phase(2), false)
    expect(await sqlstateOf(gate(phase(3), true))).toBe('SD914')
    await gate(phase(1), false)
    expect(await sqlstateOf(gate(phase(2), true))).toBe('SD914')
    await gate(phase(1), true)
    await gate(phase(2), true)
    await gate(phase(3), true)
  })

  it('are held in their order against statements by hand, too', async () => {
    expect(await sqlstateOf(db.owner('delete from iu_core.dot_config where key = $1', [phase(1)]))).toBe(
      'SD914',
    )
    expect(
      await sqlstateOf(db.owner(`update iu_core.dot_config set key = 'x' where key = $1`, [phase(2)])),
    ).toBe('SD914')
  })
})

it('phase 3 divides units where their text does, and switching it divides them all again', async () => {
  const paragraphs = Array.from({ length: 4 }, (_, n) => `${'word '.repeat(250)}${n}.`)
  const long = await create(life, { body: paragraphs.join('\n\n') })
  const lengths = async () => {
    const rows = await db.owner<{ length: number }>(
      'select to_char - from_char as length from iu_core.search_chunk where unit_id = $1 order by position',
      [long.unit_id],
    )
    return rows.map((row) => row.length)
  }
  await place.settle()
  expect(Math.max(...(await lengths()))).toBeLessThanOrEqual(2000)
  await gate(phase(3), false)
  await place.settle()
  expect(await lengths()).toHaveLength(2)
  expect((await lengths())[0]).toBeGreaterThan(3990)
  await gate(phase(3), true)
  await place.settle()
  expect(Math.max(...(await lengths()))).toBeLessThanOrEqual(2000)
  expect(await stateOf(db, long.unit_id)).toBe('current')
})
