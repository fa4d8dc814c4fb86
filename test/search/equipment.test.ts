import { expect, it } from 'vitest'
import { openEquipment } from '../../src/search/equipment.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'

const collection = (name: string) => ({
  collection: name,
  embedder: 'hashed',
  model: 'hashed-1',
  dimension: 256,
  generation_id: null,
})

it('keeps the embedders that were asked for last: models of collections long gone are let go', async () => {
  const equipment = openEquipment({} as never, NOTHING_CONFIGURED)
  const first = equipment.embedder(collection('units_1'))
  expect(equipment.embedder(collection('units_1'))).toBe(first)
  equipment.embedder(collection('units_2'))
  equipment.embedder(collection('units_3'))
  expect(equipment.embedder(collection('units_1'))).toBe(first)
  const third = equipment.embedder(collection('units_3'))
  equipment.embedder(collection('units_4'))
  equipment.embedder(collection('units_5'))
  expect(equipment.embedder(collection('units_3'))).toBe(third)
  expect(equipment.embedder(collection('units_1'))).not.toBe(first)
})
