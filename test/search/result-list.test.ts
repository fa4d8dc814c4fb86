/** The list of hits: duplicates as one, facets, order, pages, why a hit is there, and what stands around it. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { SearchAnswer } from '../../src/search/shapes.ts'
import { useDatabase } from '../support/database.ts'
import { type Asked, createKnowledge, type Knowledge } from './knowledge.ts'

const db = useDatabase()
let know: Knowledge

const addresses = ({ hits }: SearchAnswer) => hits.map((hit) => hit.canonical_address ?? hit.source_ref)
const WORDS =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma tau upsilon omega'

beforeAll(async () => {
  know = await createKnowledge(db)
  await db.owner(`insert into iu_core.topic_vocabulary (topic_label, registered_by) values ('walks', 'test')`)
})

describe('duplicates', () => {
  it('are one hit that says how many say the same, equal or nearly', async () => {
    for (const n of [1, 2, 3]) await know.unit(`copy/a${n}`, `The quokka rule: ${WORDS}.`)
    await know.unit('copy/near', `The quokka rule: ${WORDS} indeed.`)
    await know.unit('copy/other', `The quokka smiles: ${WORDS.split(' ').slice(0, 8).join(' ')} elsewhere.`)
    const answer = await know.ask('quokka')
    expect(answer.hits).toHaveLength(2)
    const copies = answer.hits.find(({ similar }) => similar)!
    expect(copies.similar!.count).toBe(3)
    expect([copies.canonical_address, ...copies.similar!.hits.map(({ address }) => address)].sort()).toEqual([
      'copy/a1',
      'copy/a2',
      'copy/a3',
      'copy/near',
    ])
    expect((await know.ask('quokka', { collapse: false })).hits).toHaveLength(5)
  })

  it('do not fill a page, however many there are', async () => {
    for (let n = 0; n < 40; n++) await know.unit(`many/${n}`, `Numbat numbat ${WORDS}`)
    await know.unit('many/rare', 'One numbat alone among other words that nobody else has here at all.')
    const answer = await know.ask('numbat', { limit: 2 })
    expect(answer.hits).toHaveLength(2)
    expect(answer.hits.flatMap(({ similar }) => similar?.count ?? [])).toEqual([39])
    expect(answer.hits.flatMap(({ similar }) => similar?.hits.length ?? [])).toEqual([20])
    expect(answer.next).toBeUndefined()
  })

  it('are never found by somebody of another workspace', async () => {
    await expect(know.ask('numbat', { as: know.people.stranger })).rejects.toMatchObject({
      code: 'not_member',
    })
  })
})

describe('a list', () => {
  beforeAll(async () => {
    for (let n = 1; n <= 12; n++)
      await know.unit(
        `walk/${n}`,
        `# Walk ${String.fromCharCode(77 - n)}\n\nWombat number${n} walks on path${n}.`,
        {
          ...(n % 3 === 0 && { language: 'vi' }),
          ...(n % 4 === 0 && { profile: { topic_labels: ['walks'] } }),
        },
      )
    await know.document('wombats.md', 'The wombat of the old handbook.')
  })

  it('is counted by each value of the filters, and a filter finds as many', async () => {
    const { facets, hits } = await know.ask('wombat', { facets: true, limit: 5 })
    expect(hits).toHaveLength(5)
    expect(facets).toEqual(
      expect.arrayContaining([
        { filter: 'source', value: 'unit', count: 12 },
        { filter: 'source', value: 'document', count: 1 },
        { filter: 'language', value: 'vi', count: 4 },
        { filter: 'topic', value: 'walks', count: 3 },
        { filter: 'status', value: 'draft', count: 12 },
      ]),
    )
    const filtered = await know.ask('wombat', { filters: { topic: 'walks' }, facets: true })
    expect(filtered.hits).toHaveLength(3)
    expect(filtered.facets).toContainEqual({ filter: 'topic', value: 'walks', count: 3 })
    expect((await know.ask('zebu', { facets: true })).facets).toEqual([])
    expect((await know.ask('wombat')).facets).toBeUndefined()
  })

  it('is sorted by title, address, and what changed last', async () => {
    const sorted = async (sort: 'address' | 'newest' | 'title') =>
      await know.ask('wombat', { sort, limit: 100, filters: { source: 'unit' } })
    expect(addresses(await sorted('address'))).toEqual(Array.from({ length: 12 }, (_, n) => `walk/${n + 1}`))
    expect(addresses(await sorted('newest'))).toEqual(Array.from({ length: 12 }, (_, n) => `walk/${12 - n}`))
    expect((await sorted('title')).hits.map(({ title }) => title).slice(0, 2)).toEqual(['Walk A', 'Walk B'])
    await expect(know.ask('wombat', { sort: 'size' as never })).rejects.toMatchObject({
      code: 'argument_invalid',
    })
  })

  it('is read page by page, each hit once', async () => {
    const options: Asked = { limit: 5 }
    const seen: (string | undefined)[] = []
    let after: string | undefined
    do {
      const page: SearchAnswer = await know.ask('wombat', { ...options, ...(after && { after }) })
      expect(page.warnings.join()).not.toMatch(/changed/)
      seen.push(...addresses(page))
      after = page.next
    } while (after !== undefined)
    expect(seen).toHaveLength(13)
    expect(new Set(seen).size).toBe(13)
    expect(seen).toEqual(addresses(await know.ask('wombat', { limit: 100 })))
  })

  it('that was found without its quotes is read on so, too', async () => {
    const first = await know.ask('"wombat nowhere"', { limit: 4 })
    expect(first.hits).toHaveLength(4)
    const second = await know.ask('"wombat nowhere"', { limit: 4, after: first.next! })
    expect(second.hits).toHaveLength(4)
    expect(addresses(second).filter((one) => addresses(first).includes(one))).toEqual([])
  })

  it('that changes between two pages says so, and shows no hit twice', async () => {
    const first = await know.ask('wombat', { limit: 4 })
    await know.unit('walk/new', 'Wombat wombat wombat.')
    const second = await know.ask('wombat', { limit: 100, after: first.next! })
    expect(second.warnings).toContainEqual(expect.stringMatching(/changed since the first page/))
    expect(addresses(second)).toContain('walk/new')
    expect(addresses(second).filter((one) => addresses(first).includes(one))).toEqual([])
    expect([...addresses(first), ...addresses(second)]).toHaveLength(14)
  })

  it('has cursors of its own question alone', async () => {
    const { next } = await know.ask('wombat', { limit: 2 })
    for (const [text, options] of [
      ['wombats', {}],
      ['wombat', { sort: 'title' }],
      ['wombat', { filters: { topic: 'walks' } }],
    ] as const)
      await expect(know.ask(text, { ...options, after: next! })).rejects.toMatchObject({
        code: 'argument_invalid',
      })
    for (const after of ['', 'x', 'e30', Buffer.from('null').toString('base64url'), 'x'.repeat(20_000)])
      await expect(know.ask('wombat', { after })).rejects.toMatchObject({ code: 'argument_invalid' })
  })
})

describe('a hit', () => {
  it('says on request which words matched, where, and how much each counts', async () => {
    await know.unit('pets/ferret', '# Ferret food\n\nGive eggs twice. Eggs are cheap in spring.')
    const { hits } = await know.ask('ferret eggs', { explain: true })
    const { words } = hits[0]!.explain!
    expect(words.map(({ word, fields }) => [word, fields]).sort()).toEqual([
      ['eggs', ['text']],
      ['ferret', ['title', 'address']],
    ])
    expect(words.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 2)
  })

  it('shows on request its container and its neighbours', async () => {
    const book = await know.unit('book', 'Okapi in general.')
    const ids: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const unit = await know.unit(`book/${name}`, `Chapter ${name} about topic${name}.`)
      await db.as(know.people.operator, (client) =>
        client.query('select iu_core.fn_unit_move($1, $2)', [unit, book]),
      )
      ids.push(unit)
    }
    const { hits } = await know.ask('topictwo', { context: true })
    expect(hits[0]!.context).toEqual({
      parent: { unit_id: book, canonical_address: 'book', title: expect.any(String) },
      unit_before: { unit_id: ids[0], canonical_address: 'book/one', title: expect.any(String) },
      unit_after: { unit_id: ids[2], canonical_address: 'book/three', title: expect.any(String) },
    })
    expect((await know.ask('topictwo')).hits[0]!.context).toBeUndefined()
    expect((await know.ask('general okapi', { context: true })).hits[0]!.context).toEqual({})
  })
})
