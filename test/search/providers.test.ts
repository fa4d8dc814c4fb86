import { expect, it } from 'vitest'
import { openProviders } from '../../src/search/providers.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'

const collection = (name: string) => ({
  collection: name,
  embedder: 'hashed',
  model: 'hashed-1',
  dimension: 256,
  generation_id: null,
})

it('keeps the embedders that were asked for last: models of old collections are closed', async () => {
  const providers = openProviders({} as never, NOTHING_CONFIGURED)
  const first = providers.embedder(collection('units_1'))
  expect(providers.embedder(collection('units_1'))).toBe(first)
  providers.embedder(collection('units_2'))
  providers.embedder(collection('units_3'))
  expect(providers.embedder(collection('units_1'))).toBe(first)
  const third = providers.embedder(collection('units_3'))
  providers.embedder(collection('units_4'))
  providers.embedder(collection('units_5'))
  expect(providers.embedder(collection('units_3'))).toBe(third)
  expect(providers.embedder(collection('units_1'))).not.toBe(first)
})
