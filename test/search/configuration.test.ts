/** How embedders and stores are reached: what is set, and that no secret of it is printed. */
import { expect, it } from 'vitest'
import { describeConfig, readConfig } from '../../src/kernel/config.ts'

const KEYS = { EMBEDDINGS_API_KEY: 'key-of-embeddings', QDRANT_API_KEY: 'key-of-qdrant' }

it('needs nothing, and then names the model that a new collection is made with', () => {
  expect(readConfig({})).toMatchObject({
    embeddingsUrl: undefined,
    embeddingsModel: 'text-embedding-3-small',
    embeddingsDimension: 1536,
    qdrantUrl: undefined,
  })
})

it('hides keys and passwords where it is printed', () => {
  const config = readConfig({
    ...KEYS,
    EMBEDDINGS_URL: 'https://me:hidden@embeddings.example/v1',
    QDRANT_URL: 'https://me:hidden@qdrant.example:6333',
  })
  expect(config.embeddingsApiKey).toBe('key-of-embeddings')
  const printed = JSON.stringify(describeConfig(config))
  expect(printed).not.toMatch(/key-of|hidden/)
  expect(printed).toContain('embeddings.example')
})

it.each([
  ['EMBEDDINGS_URL', 'embeddings.example'],
  ['EMBEDDINGS_DIMENSION', '0'],
  ['EMBEDDINGS_DIMENSION', '5000'],
  ['QDRANT_URL', 'ftp://qdrant.example'],
])('refuses %s=%s', (setting, value) => {
  expect(() => readConfig({ [setting]: value })).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(setting) }),
  )
})

it("reads nothing of OpenAI's own variables", () => {
  const config = readConfig({ OPENAI_API_KEY: 'of-another-program', OPENAI_BASE_URL: 'https://api.example' })
  expect(config.embeddingsApiKey).toBeUndefined()
  expect(config.embeddingsUrl).toBeUndefined()
})
