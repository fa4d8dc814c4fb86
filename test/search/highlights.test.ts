import { describe, expect, it } from 'vitest'
import {
  englishMatch,
  fold,
  plainMatch,
  queryWords,
  snippetOf,
  untitled,
} from '../../src/search/highlights.ts'
import { useDatabase } from '../support/database.ts'

/** What the ranges say, as a reader in any language would cut them out. */
function marked(shown: { snippet: string; highlights: readonly (readonly [number, number])[] }): string[] {
  const characters = [...shown.snippet]
  return shown.highlights.map(([from, to]) => characters.slice(from, to).join(''))
}

describe('words of a question', () => {
  it('are folded, once each, and apart from prefixes', () => {
    expect(queryWords('Leave LEAVE "paid days" poli* nghỉ Đà')).toEqual({
      words: ['leave', 'paid', 'days', 'nghi', 'da'],
      prefixes: ['poli'],
    })
  })

  it('fold like the index does: no marks, no case, đ as d', () => {
    expect(fold('Điều')).toBe('dieu')
    expect(fold('CAFÉ')).toBe('cafe')
  })
})

describe('a snippet', () => {
  const match = plainMatch(queryWords('leave days'))

  it('of a short text is all of it on one line, with the words marked', () => {
    const shown = snippetOf('# Leave\n\nYou have 28 days.', match)
    expect(shown.snippet).toBe('# Leave You have 28 days.')
    expect(marked(shown)).toEqual(['Leave', 'days'])
  })

  it('of a long text is where most different words stand, cut between words', () => {
    const filler = 'nothing of interest here '.repeat(40)
    const shown = snippetOf(`${filler}leave ${filler}the leave is 28 days a year ${filler}`, match)
    expect([...shown.snippet].length).toBeLessThanOrEqual(242)
    expect(shown.snippet).toMatch(
      /^…(nothing|of|interest|here) .*the leave is 28 days a year .*(nothing|of|interest|here)…$/,
    )
    expect(marked(shown)).toEqual(['leave', 'days'])
  })

  it('counts characters, so that what is outside the basic plane moves nothing', () => {
    const shown = snippetOf('🌴🌴 leave 🏖️ days', match)
    expect(marked(shown)).toEqual(['leave', 'days'])
    expect(shown.highlights[0]).toEqual([3, 8])
  })

  it('never cuts a character in two, even where there is no space', () => {
    const shown = snippetOf('🌴'.repeat(400), match)
    expect(shown.snippet).not.toMatch(/\p{Cs}/u)
  })

  it('without any of the words is the beginning', () => {
    const shown = snippetOf(`first ${'filler '.repeat(100)}`, match)
    expect(shown.snippet.startsWith('first filler')).toBe(true)
    expect(shown.highlights).toEqual([])
  })

  it('of a megabyte of matching words takes no longer than a blink', () => {
    const text = 'leave days '.repeat(95_000)
    const began = performance.now()
    snippetOf(text, match)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

describe('a text under its title', () => {
  it('does not say it again', () => {
    expect(untitled('### Sick leave\n\nTell your manager.', 'Sick leave')).toBe('\nTell your manager.')
    expect(untitled('## Other\n\n### More\ntext', 'Sick leave')).toBe('Other\n\nMore\ntext')
  })

  it('that is nothing but its title says that', () => {
    expect(untitled('# Leave\n', 'Leave')).toBe('Leave\n')
  })
})

describe('words of English', () => {
  const db = useDatabase()

  it('are marked where Postgres takes them for the same word', async () => {
    const text = 'Policies for employees who are leaving; the policy of leaves.'
    const match = await englishMatch(db.pool('stagedoor_worker'), queryWords('leave policy for'), [text])
    expect(marked(snippetOf(text, match))).toEqual(['Policies', 'leaving', 'policy', 'leaves'])
  })

  it('are marked by their beginning where the question says so', async () => {
    const text = 'Employment, employer, employee'
    const match = await englishMatch(db.pool('stagedoor_worker'), queryWords('employ*'), [text])
    expect(marked(snippetOf(text, match))).toHaveLength(3)
  })
})
