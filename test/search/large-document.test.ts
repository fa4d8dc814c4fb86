/** A document may have 10 MiB: it must not keep a workspace from being projected, nor make every question slow. */
// @module-tag long
import { beforeAll, expect, it } from 'vitest'
import { legacyChunks } from '../../src/search/chunks.ts'
import { fastestMs } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createKnowledge, type Knowledge } from './knowledge.ts'
import { put } from './projecting.ts'

const db = useDatabase()
const BYTES = 4_000_000
const WORDS = 20_000
let know: Knowledge
let document: string
let body: string

/** As words are in a language: few of them often, most of them seldom; always the same. */
function longText(): string {
  let state = 7
  const next = (): number => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
  const word = (n: number): string => `w${(n * 7919 + 11).toString(36)}${n % 3 === 0 ? 'đ' : ''}`
  const words: string[] = []
  for (let size = 0; size < BYTES; size += words.at(-1)!.length + 1)
    words.push(word(Math.floor(WORDS ** next())))
  return `${words.join(' ')} The last one is the platypus.`
}

async function project(): Promise<void> {
  const [row] = await db.owner<{ hash: string }>(
    'select content_hash as hash from iu_core.kb_document where document_id = $1',
    [document],
  )
  const chunks = legacyChunks(body).map(({ from, to }) => ({ from, to }))
  await put(db, { document_id: document, hash: row!.hash, chunks })
}

const write = async (): Promise<string> => {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(`select iu_core.fn_document_put($1, 'kb:long', 'A long one', $2) as id`, [
      know.workspace,
      body,
    ])
  return rows[0]!.id
}

beforeAll(async () => {
  know = await createKnowledge(db)
  body = longText()
  document = await write()
})

it('is put into search in seconds, and again in less', async () => {
  // 5 s and 1 s on two busy cores; 21 s and 15 s while the start of every chunk was counted from the start of the text.
  await project()
  expect(await fastestMs(project, 7_000)).toBeLessThan(7_000)
})

it('is shown by the text of its chunk, wherever in it that stands', async () => {
  const { hits } = await know.ask('platypus')
  expect(hits).toMatchObject([{ document_id: document, snippet: expect.stringContaining('the platypus.') }])
})

it('does not make a question slow, of which it has the most chunks', async () => {
  const often = body.slice(0, body.indexOf(' '))
  const ask = async () => {
    const answers = await Promise.all([know.ask(often), know.ask(often)])
    for (const { hits } of answers) expect(hits[0]).toMatchObject({ document_id: document })
  }
  expect(await fastestMs(ask, 1000)).toBeLessThan(1000)
})

it('that has changed is shown by how it begins now, and is not read to its end', async () => {
  body = `A new beginning. ${body}`
  await write()
  const { hits } = await know.ask('platypus')
  expect(hits).toMatchObject([{ document_id: document, snippet: expect.stringMatching(/^A new beginning/) }])
  const texts = await db.as(know.people.viewer, (client) =>
    client.query<{ text: string }>('select * from iu_core.fn_search_texts($1, $2, $3)', [
      know.workspace,
      [],
      [document],
    ]),
  )
  expect(texts.rows.map(({ text }) => text.length)).toEqual([20_000])
})
