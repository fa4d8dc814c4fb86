import { describe, expect, it } from 'vitest'
import { createWordCounter } from '../../src/search/embedders/embedder.ts'
import { englishMatch, fold, plainMatch, queryWords, snippetOf, withoutTitle } from '../../src/search/hits.ts'
import { cpuClock } from '../support/cpu.ts'
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

  it('have as many prefixes as the index takes, and only where a word ends', () => {
    const many = Array.from({ length: 16_000 }, (_, at) => `z${at}*`).join(' ')
    const { prefixes } = queryWords(`${many} a* in*side`)
    expect(prefixes).toEqual(['z0', 'z1', 'z10', 'z100', 'z1000', 'z10000', 'z10001', 'z10002'])
    const match = plainMatch({ words: [], prefixes })
    expect([match('z10x'), match('z9'), match('about'), match('inner')]).toEqual([
      'z1',
      undefined,
      undefined,
      undefined,
    ])
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
    const workedMs = cpuClock()
    snippetOf(text, match)
    expect(workedMs()).toBeLessThan(2000)
  })
})

describe('a text under its title', () => {
  it('does not say it again', () => {
    expect(withoutTitle('### Sick leave\n\nTell your manager.', 'Sick leave')).toBe('\nTell your manager.')
    expect(withoutTitle('## Other\n\n### More\ntext', 'Sick leave')).toBe('Other\n\nMore\ntext')
  })

  it('that is nothing but its title says that', () => {
    expect(withoutTitle('# Leave\n', 'Leave')).toBe('Leave\n')
  })
})

describe('words of English', () => {
  const db = useDatabase()

  it('are marked where Postgres takes them for the same word', async () => {
    const text = 'Policies for employees who are leaving; the policy of leaves.'
    const match = await englishMatch(db.pool('stagedoor_worker'), queryWords('leave policy for'), [text])
    expect(marked(snippetOf(text, match))).toEqual(['Policies', 'leaving', 'policy', 'leaves'])
  })

  it('are folded here as they are in Postgres, letter by letter, and in the embedders’ words', async () => {
    const ranges = [
      [0x21, 0x24f],
      [0x370, 0x52f],
      [0x900, 0x97f],
      [0x1e00, 0x1fff],
      [0xac00, 0xac40],
      [0xff01, 0xff60],
    ] as const
    const letters = ranges
      .flatMap(([from, to]) =>
        Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at)),
      )
      .filter((letter) => letter !== '/' && /\p{L}|\p{M}/u.test(letter))
    const { rows } = await db
      .pool('stagedoor_worker')
      .query<{ letter: string; plain: string }>(
        'select l.letter, iu_core.fn_search_fold(l.letter) as plain from unnest($1::text[]) as l (letter)',
        [letters],
      )
    const differ = rows.filter(({ letter, plain }) => fold(letter) !== plain.toLowerCase())
    expect(differ).toEqual([])
    expect(fold('Łódź Smørrebrød Ǿ Đội')).toBe('lodz smorrebrod o doi')
    const [marked, typed] = await createWordCounter(db.pool('stagedoor_worker'))([
      'Łódź Smørrebrød Đội',
      'Lodz Smorrebrod Doi',
    ])
    expect(marked).toEqual(typed)
  })

  it('are marked by their beginning where the question says so', async () => {
    const text = 'Employment, employer, employee'
    const match = await englishMatch(db.pool('stagedoor_worker'), queryWords('employ*'), [text])
    expect(marked(snippetOf(text, match))).toHaveLength(3)
  })
})
