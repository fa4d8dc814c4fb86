/** A model in a folder: how it is loaded and run, what it refuses, and how search switches to it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool, type Pool } from '../../../src/kernel/postgres/connection.ts'
import { CommandThread } from '../../../src/runtime/worker-thread.ts'
import { beginSwitch } from '../../../src/search/collections.ts'
import type { Embedder } from '../../../src/search/embedders/embedder.ts'
import { runModelCommand } from '../../../src/search/embedders/onnx/model.ts'
import { openOnnxEmbedder } from '../../../src/search/embedders/onnx/onnx.ts'
import { openProviders } from '../../../src/search/providers.ts'
import { search as searchFor } from '../../../src/search/query.ts'
import { createVectorSearch } from '../../../src/search/vector-search.ts'
import { ANSWER_WARNINGS } from '../../../src/search/warnings.ts'
import { startSearchWorker } from '../../../src/search/worker.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { call, useLife } from '../../units/life.ts'
import { NOTHING_CONFIGURED } from '../knowledge.ts'
import { unitIn } from '../projecting.ts'
import { embedderConformance } from './conformance.ts'
import { TINY_DIMENSION, writeTinyModel } from './tiny-model.ts'

let home: string
let embedder: Embedder
let count = 0

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'stagedoor-onnx-'))
  embedder = await openOnnxEmbedder({ folder: await writeTinyModel(join(home, 'tiny')) })
})
afterAll(() => rm(home, { recursive: true, force: true }))

const folderOf = (model: Parameters<typeof writeTinyModel>[1]) =>
  writeTinyModel(join(home, `m${++count}`), model)

const similarity = async (a: string, b: string, by = embedder): Promise<number> => {
  const [[x], [y]] = await Promise.all([by.embed([a], 'query'), by.embed([b], 'passage')])
  return x!.reduce((sum, value, at) => sum + value * y![at]!, 0)
}

embedderConformance('the embedder onnx', () => embedder)

it('says by its vectors which words mean the same', async () => {
  expect(embedder.dimension).toBe(TINY_DIMENSION)
  expect(await similarity('vacation', 'Holiday')).toBeCloseTo(1, 5)
  expect(await similarity('holiday', 'invoice')).toBeLessThan(0.1)
  expect(await similarity('the ship', 'holiday invoice boat')).toBeGreaterThan(0.3)
})

it('gives a text the same vector whatever stands beside it', async () => {
  const [alone] = await embedder.embed(['boat'], 'passage')
  const [, beside] = await embedder.embed(['the invoice is the bill is the holiday', 'boat'], 'passage')
  expect(beside).toEqual(alone)
})

it('reads as much of a text as the model does', async () => {
  expect(await similarity(`${'boat '.repeat(100)} invoice`, 'boat '.repeat(100))).toBeCloseTo(1, 5)
})

it('pools as its folder says', async () => {
  const first = await openOnnxEmbedder({
    folder: await folderOf({ files: { '1_Pooling/config.json': { pooling_mode_cls_token: true } } }),
  })
  // Every text begins with the same token.
  expect(await similarity('holiday', 'invoice', first)).toBeCloseTo(1, 5)
  const newer = await openOnnxEmbedder({
    folder: await folderOf({ files: { '1_Pooling/config.json': { pooling_mode: 'max' } } }),
  })
  expect(await similarity('boat boat boat invoice', 'boat invoice', newer)).toBeCloseTo(1, 5)
})

it('puts before a question what the model was trained with', async () => {
  const folder = await folderOf({
    files: { 'config_sentence_transformers.json': { prompts: { query: 'query: ', document: '' } } },
  })
  const prompted = await openOnnxEmbedder({ folder })
  expect(await similarity('boat', 'query : boat', prompted)).toBeCloseTo(1, 5)
  expect(await similarity('boat', 'boat', prompted)).toBeLessThan(0.9)
})

describe('a folder', () => {
  const refusal = async (folder: string, model?: string) =>
    openOnnxEmbedder({ folder, model }).then(
      () => expect.fail('it was opened'),
      ({ code, message }) => ({ code, message }),
    )
  const refused = (reason: string) => ({
    code: 'embedder_not_configured',
    message: expect.stringContaining(reason),
  })

  it('that is none, or has no model or tokenizer, is refused with what is missing', async () => {
    expect(await refusal(join(home, 'nowhere'))).toEqual(refused('there is no folder'))
    expect(await refusal(await folderOf({ files: { 'onnx/model.onnx': undefined } }))).toEqual(
      refused('there is no model.onnx'),
    )
    expect(await refusal(await folderOf({ files: { 'tokenizer.json': undefined } }))).toEqual(
      refused('tokenizer.json'),
    )
    expect(await refusal(await folderOf({ files: { 'tokenizer.json': '{' } }))).toEqual(refused('is no JSON'))
  })
  it('whose model cannot be run, or is no model of texts, is refused', async () => {
    expect(await refusal(await folderOf({ files: { 'onnx/model.onnx': 'not a model' } }))).toEqual(
      refused('cannot be run'),
    )
    expect(await refusal(await folderOf({ inputs: ['pixel_values'] }))).toEqual(refused('pixel_values'))
    const layers = {
      'modules.json': [
        { type: 'sentence_transformers.models.Transformer' },
        { type: 'sentence_transformers.models.Dense' },
      ],
    }
    expect(await refusal(await folderOf({ files: layers }))).toEqual(refused('Dense'))
    const pooling = { '1_Pooling/config.json': { pooling_mode_weightedmean_tokens: true } }
    expect(await refusal(await folderOf({ files: pooling }))).toEqual(refused('weightedmean_tokens'))
  })
  it('that is completed later is opened then', async () => {
    const folder = await folderOf({ files: { 'tokenizer.json': undefined } })
    await refusal(folder)
    await writeTinyModel(folder)
    expect((await openOnnxEmbedder({ folder })).dimension).toBe(TINY_DIMENSION)
  })
  it('with another model than the collection was made with is refused', async () => {
    const other = await folderOf({ files: { 'tokenizer_config.json': { model_max_length: 32 } } })
    const { model } = embedder
    expect(model).toMatch(/^tiny@[0-9a-f]{12}$/)
    expect(await refusal(other, model)).toEqual(refused(`was made with ${model}`))
    // The name alone does not make a model.
    expect((await openOnnxEmbedder({ folder: other })).fingerprint).not.toBe(embedder.fingerprint)
  })
})

describe('search', () => {
  const db = useDatabase()
  const life = useLife(db)
  let workers: Pool

  afterAll(() => workers?.end())

  it('switches to it, and finds by meaning what shares no word with the question', async () => {
    const config = { ...NOTHING_CONFIGURED, embeddingsFolder: await folderOf({}) }
    const { unit_id } = await unitIn(db, life, 'The holiday')
    await unitIn(db, life, 'The invoice')
    workers = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 6 })
    const { collection } = await beginSwitch(
      { pool: workers, config },
      { embedder: 'onnx', store: 'postgres' },
    )
    const providers = openProviders(workers, config)
    const worker = await startSearchWorker({
      pool: workers,
      listenUrl: db.url('stagedoor_worker'),
      providers,
    })
    await call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
    await until('both texts are in the new collection', async () => {
      const points = await db.owner(
        `select from iu_core.search_point p join iu_core.search_collection c using (collection)
          where c.collection = $1 and c.state = 'active' and p.state = 'written'`,
        [collection],
      )
      return points.length === 2
    })
    await worker.stop()
    await providers.close()
    const readers = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 2 })
    const vectorSearch = createVectorSearch({ pool: readers, config })
    const viewer = await createMember(db, life.workspace, 'viewer')
    const ask = (text: string, by = vectorSearch) =>
      searchFor(
        { transaction: (work) => db.as(viewer, work), vectorSearch: by },
        { workspaceId: life.workspace, text, exact: true },
      )
    const { hits, warnings } = await ask('vacation')
    expect(warnings).toEqual([])
    expect(hits[0]).toMatchObject({ unit_id, legs: { dense: 1 } })
    // Without the folder: words alone, and it is said.
    const without = createVectorSearch({ pool: readers, config: NOTHING_CONFIGURED })
    expect(await ask('vacation', without)).toMatchObject({
      hits: [],
      warnings: [ANSWER_WARNINGS.embedderUnknown],
    })
    await Promise.all([vectorSearch.close(), without.close(), readers.end()])
  })
})

it('answers from a thread what it answers in the process', async () => {
  const folder = await folderOf({})
  const thread = new CommandThread(
    new URL('../../../dist/search/embedders/onnx/thread.js', import.meta.url),
    'the test',
  )
  const { model, dimension } = await openOnnxEmbedder({ folder })
  expect(await thread.run('open', { folder })).toEqual({ model, dimension })
  const asked = { folder, texts: ['boat', 'the bill is a ship'], use: 'passage' } as const
  expect(await thread.run('embed', asked)).toEqual(await runModelCommand('embed', asked))
  await expect(thread.run('open', { folder: join(home, 'nowhere') })).rejects.toThrow('there is no folder')
  await thread.close()
})
