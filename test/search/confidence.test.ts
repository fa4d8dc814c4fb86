/** What a score says: how well a hit fits among the others, and how well anything fits at all. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool, type Pool } from '../../src/kernel/postgres/connection.ts'
import { search } from '../../src/search/query.ts'
import { createVectorSearch } from '../../src/search/vector-search.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { useLife } from '../units/life.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'
import { unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)
let viewer: Member
let readers: Pool
let vectorSearch: ReturnType<typeof createVectorSearch>

const HANDBOOK = [
  'Annual leave is twenty days. Ask your team lead two weeks before.',
  'Sick days need a note from the third day on.',
  'Travel expenses are paid back within thirty days.',
  'Headlines begin with a capital letter.',
  'The office opens at eight and closes at six.',
  'Passwords are changed every year, and never shared.',
]

beforeAll(async () => {
  viewer = await createMember(db, life.workspace, 'viewer')
  for (const body of HANDBOOK) await unitIn(db, life, body)
  readers = createPool(db.url('stagedoor_worker'), { role: 'dot_executor', max: 4 })
  vectorSearch = createVectorSearch({ pool: readers, config: NOTHING_CONFIGURED })
})
afterAll(async () => {
  await vectorSearch?.close()
  await readers?.end()
})

const ask = (text: string) =>
  search({ transaction: (work) => db.as(viewer, work), vectorSearch }, { workspaceId: life.workspace, text })

it('a text that has every word of the question has the best score, 1', async () => {
  const { hits, warnings } = await ask('annual leave')
  expect(hits[0]).toMatchObject({ score: 1 })
  expect(warnings).toEqual([])
})

it('a question about something else has hits with low scores, and is told that nothing fits well', async () => {
  const { hits, warnings } = await ask('capital of Ruritania')
  expect(hits).toHaveLength(1)
  expect(hits[0]!.score).toBeLessThan(0.5)
  expect(warnings).toEqual([expect.stringMatching(/^Nothing fits well/)])
})

it('a long question is not expected to have all its words in one text', async () => {
  const { hits, warnings } = await ask(
    'I am new here and would like to understand how many days of annual leave everybody has, and whom to ask',
  )
  expect(hits[0]!.snippet).toContain('Annual leave')
  expect(warnings).toEqual([])
})

it('nothing at all is no hit with a bad score', async () => {
  const { hits, warnings } = await ask('Ruritania')
  expect(hits).toEqual([])
  expect(warnings).toEqual([])
})
