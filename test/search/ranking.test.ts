import { describe, expect, it } from 'vitest'
import { type ChunkFacts, type Found, rank } from '../../src/search/ranking.ts'

const unit = (id: string, more: Partial<ChunkFacts> = {}): ChunkFacts => ({
  chunk_id: `chunk of ${id}`,
  source: 'unit',
  unit_id: id,
  document_id: null,
  document_state: null,
  canonical_address: `address/${id}`,
  lifecycle_status: 'draft',
  vector_state: 'current',
  version_no: 1,
  current_version_no: 1,
  ...more,
})
const document = (id: string, state = 'current'): ChunkFacts => ({
  ...unit(id),
  chunk_id: `chunk of ${id}`,
  source: 'document',
  unit_id: null,
  document_id: id,
  lifecycle_status: null,
  vector_state: state,
})

function ranked(facts: readonly ChunkFacts[], legs: Partial<Found<ChunkFacts>> = {}): string[] {
  return rank({
    lexical: facts.map(({ chunk_id }) => chunk_id),
    dense: [],
    legacy: [],
    facts: new Map(facts.map((row) => [row.chunk_id, row])),
    documents: new Map(),
    superseded: false,
    together: true,
    denseWeight: 0.5,
    fit: 1,
    ...legs,
  }).map(({ source, id, cautions }) => [source, id, ...cautions.map(({ caution }) => caution)].join(' '))
}

describe('ranking', () => {
  it('gives the place of a document to the best of the units that speak for it', () => {
    const of = { document_id: 'wiki', document_state: 'current', lifecycle_status: 'enacted' } as const
    const facts = [document('wiki'), unit('other'), unit('a', of), unit('b', of)]
    expect(ranked(facts)).toEqual(['unit a', 'unit other', 'unit b'])
  })

  it('shows what is in force, not the document, for the draft that is to succeed it', () => {
    const of = { document_id: 'wiki', document_state: 'current' } as const
    const enacted = unit('a', { ...of, lifecycle_status: 'enacted' })
    const successor = unit('b', { ...of, canonical_address: 'address/a~2' })
    expect(ranked([successor, enacted, document('wiki')])).toEqual(['unit a'])
    expect(ranked([successor, document('wiki')])).toEqual(['document wiki'])
    const alone = { document_id: null, document_state: null }
    expect(ranked([{ ...successor, ...alone }, enacted])).toEqual(['unit b', 'unit a'])
    const other = unit('c', { ...of, canonical_address: 'address/c' })
    expect(ranked([other, enacted])).toEqual(['document wiki', 'unit a'])
  })

  it('shows of an edited unit its newest text, though the older one comes before', () => {
    const old = unit('a', { vector_state: 'pending', current_version_no: 2 })
    const edited = unit('a', { ...old, chunk_id: 'edited', version_no: 2 })
    const found = [unit('b'), old, edited]
    const facts = new Map(found.map((row) => [row.chunk_id, row]))
    const shown = (wordShares: Map<string, number>) =>
      rank({
        lexical: found.map(({ chunk_id }) => chunk_id),
        dense: [],
        legacy: [],
        facts,
        wordShares,
        documents: new Map(),
        superseded: false,
        together: true,
        denseWeight: 0.5,
        fit: 1,
      }).map(({ best }) => best!.chunk_id)
    expect(shown(new Map([old, edited].map(({ chunk_id }) => [chunk_id, 1])))).toEqual([
      'chunk of b',
      'edited',
    ])
    // A word that the edit took out is found where it was.
    const lacks = new Map([
      [old.chunk_id, 1],
      [edited.chunk_id, 0.5],
    ])
    expect(shown(lacks)).toEqual(['chunk of b', 'chunk of a'])
  })

  it('shows of a unit in force its best chunk, whoever comes before', () => {
    const of = { document_id: 'wiki', document_state: 'current', lifecycle_status: 'enacted' } as const
    const [first, second] = [unit('a', of), unit('a', { ...of, chunk_id: 'second chunk of a' })]
    const facts = new Map([first, second].map((row) => [row.chunk_id, row]))
    const legs = {
      dense: [],
      legacy: [],
      documents: new Map(),
      superseded: false,
      together: true,
      denseWeight: 0.5,
      fit: 1,
    }
    const [shown] = rank({ ...legs, lexical: [second.chunk_id, first.chunk_id], facts })
    expect(shown!.best!.chunk_id).toBe('second chunk of a')
  })

  it('warns of each unit of a document once', () => {
    const of = { document_id: 'wiki', document_state: 'current', vector_state: 'stale' } as const
    const again = unit('a', { ...of, chunk_id: 'second chunk of a' })
    expect(ranked([unit('a', of), again, unit('b', of)])).toEqual(['document wiki unit_stale unit_stale'])
  })

  it('takes what only the vectors of the old knowledge base found, in turn with units', () => {
    const facts = [unit('a'), unit('b')]
    const legacy = { lexical: [], dense: ['chunk of a', 'chunk of b'], legacy: ['wiki'] }
    const documents = new Map([['wiki', 'stale' as const]])
    expect(ranked(facts, { ...legacy, documents })).toEqual([
      'unit a',
      'document wiki document_stale',
      'unit b',
    ])
  })

  it('gives nobody a better place because others were not looked at', () => {
    const facts = [unit('a')]
    const found = {
      lexical: ['unseen 1', 'unseen 2', 'chunk of a'],
      dense: [],
      legacy: [],
      facts: new Map(facts.map((row) => [row.chunk_id, row])),
      unseen: new Set(['unseen 1', 'unseen 2']),
      documents: new Map(),
      superseded: false,
      together: true,
      denseWeight: 0.5,
      fit: 1,
    }
    expect(rank(found)).toMatchObject([{ id: 'a', ranks: { lexical: 3 } }])
  })

  it('leaves out what Postgres does not know, whoever found it', () => {
    expect(ranked([unit('a')], { dense: ['planted'], legacy: ['unknown'] })).toEqual(['unit a'])
  })
})
