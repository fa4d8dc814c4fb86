/** Questions to the embedder that every installation has, fitted by its own worker: nothing in it stands in for anything. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { liveCollections } from '../../src/search/collections.ts'
import { openProviders } from '../../src/search/providers.ts'
import { search } from '../../src/search/query.ts'
import type { SearchFilters } from '../../src/search/question.ts'
import { createVectorSearch, QuestionVectors } from '../../src/search/vector-search.ts'
import { startSearchWorker } from '../../src/search/worker.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { call, useLife } from '../units/life.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'

const db = useDatabase()
const life = useLife(db)
const GOODS = ['ropes', 'anchors', 'sails', 'lamps', 'barrels'] as const
let workers: Pool
let viewer: Member
let readers: Pool
let vectorSearch: ReturnType<typeof createVectorSearch>

const ask = (text: string, filters: SearchFilters = {}) =>
  search(
    { transaction: (work) => db.as(viewer, work), vectorSearch },
    { workspaceId: life.workspace, text, filters, limit: 100 },
  )

beforeAll(async () => {
  viewer = await createMember(db, life.workspace, 'viewer')
  for (const topic of GOODS)
    await db.owner(
      `insert into iu_core.topic_vocabulary (topic_label, registered_by) values ($1, 'test') on conflict do nothing`,
      [topic],
    )
  await call(life.operator, 'fn_unit_create_batch', {
    p_workspace_id: life.workspace,
    p_units: JSON.stringify(
      Array.from({ length: 220 }, (_, n) => ({
        canonical_address: `harbour/u${n}`,
        body: `Harbour ${n % 7} keeps ${GOODS[n % 5]} and ${['tar', 'paint', 'oil'][n % 3]} in shed ${n % 11}, number ${n}.`,
        profile: { topic_labels: [GOODS[n % 5]] },
      })),
    ),
  })
  workers = createPool(db.url('stagedoor_worker'), { role: 'vector_worker', max: 6 })
  const providers = openProviders(workers, NOTHING_CONFIGURED)
  const worker = await startSearchWorker({ pool: workers, listenUrl: db.url('stagedoor_worker'), providers })
  await call(life.operator, 'fn_vector_flush', { p_workspace_id: life.workspace })
  await until('a fitted collection is active', async () =>
    (await liveCollections(workers)).some(({ embedder, state }) => embedder === 'lsa' && state === 'active'),
  )
  await worker.stop()
  await providers.close()
  readers = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 4 })
  vectorSearch = createVectorSearch({ pool: readers, config: NOTHING_CONFIGURED })
})
afterAll(async () => {
  await vectorSearch?.close()
  await Promise.all([workers?.end(), readers?.end()])
})

it('are answered by both legs', async () => {
  const { hits, legs, warnings } = await ask('where are the anchors and the tar')
  expect(warnings).toEqual([])
  expect(legs.dense).toBeGreaterThan(0)
  expect(hits[0]).toMatchObject({
    freshness: 'current',
    legs: { lexical: expect.any(Number), dense: expect.any(Number) },
  })
})

it('find nothing where no text has a word of theirs', async () => {
  expect((await ask('qwertzuiop')).hits).toEqual([])
  expect((await ask('parrots welcome zzzq*')).hits).toEqual([])
})

it('keep to their filters in both legs', async () => {
  const { hits, legs } = await ask('anchors in the shed with tar', { topic: 'lamps' })
  expect(legs.dense).toBeGreaterThan(0)
  expect(hits.length).toBeGreaterThan(0)
  for (const { snippet } of hits) expect(snippet).toContain('lamps')
})

it('give the ranking a cosine for the hits of both legs', async () => {
  const { active } = await vectorSearch.state(life.workspace)
  const [far] = await db.owner<{ chunk_id: string }>(
    `select c.chunk_id from iu_core.search_chunk c join iu_core.unit_version v using (unit_version_id)
      where v.body like '%sails and oil in shed 7%' order by 1 limit 1`,
  )
  const found = await vectorSearch.units(active!, {
    vectors: new QuestionVectors('ropes and tar'),
    workspace: life.workspace,
    limit: 5,
    byWords: Promise.resolve([far!.chunk_id]),
  })
  if (!('ids' in found)) throw new Error(found.unavailable)
  expect(found.ids).toHaveLength(5)
  expect(found.ids).not.toContain(far!.chunk_id)
  expect([...found.scores!.keys()]).toEqual([...found.ids, far!.chunk_id])
  const scores = found.ids.map((id) => found.scores!.get(id)!)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores[0]).toBeLessThanOrEqual(1.0001)
  expect(found.scores!.get(far!.chunk_id)).toBeLessThan(scores.at(-1)!)
})
