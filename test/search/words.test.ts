/** What words search takes a text to be made of, and what a query asks for. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitExclusions } from '../../src/search/question.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'

const db = useDatabase()

async function words(text: string, language: string): Promise<string[]> {
  const [row] = await db.owner<{ words: string[] }>(
    'select tsvector_to_array(iu_core.fn_search_words($1, $2)) as words',
    [text, language],
  )
  return row!.words
}

type Parsed = Record<'words' | 'stops' | 'phrases' | 'prefixes' | 'excluded', string[]> & { free: string }

async function parse(query: string) {
  return (await db.owner<Parsed>('select * from iu_core.fn_search_parse($1)', [query]))[0]!
}

describe('a text', () => {
  it('in English is stems without stop words', async () => {
    expect(await words('The policies of running companies', 'en')).toEqual(['compani', 'polici', 'run'])
    expect(await words('The policies', 'en-GB')).toEqual(['polici'])
  })

  it.each(['fr', 'es', 'pt', 'tr', 'hu', 'vi', 'de', 'en'])(
    'may have marks without letters: %s',
    async (language) => {
      for (const text of ['\u037a', 'caf\u00e9 \u0301 \u037a\u0345 fin', '\u0301\u0301'])
        expect(await words(text, language)).not.toContain('')
      const found = await words('\u037a maison \u0301', language)
      expect(found.filter((word) => /\p{L}/u.test(word))).toHaveLength(1)
    },
  )

  it('in Vietnamese is its words without marks, however they are encoded', async () => {
    const text = 'Nghỉ phép được duyệt bởi Đội trưởng'
    const plain = ['boi', 'doi', 'duoc', 'duyet', 'nghi', 'phep', 'truong']
    for (const written of [
      text.normalize('NFC'),
      text.normalize('NFD'),
      'NGHI PHEP DUOC DUYET BOI DOI TRUONG',
    ])
      expect(await words(written, 'vi')).toEqual(
        expect.arrayContaining([...plain, 'nghi phep', 'doi truong']),
      )
    expect(await words(text.normalize('NFD'), 'vi')).toEqual(await words(text.normalize('NFC'), 'vi'))
    expect(await words(text, 'vi')).toContain('nghỉ')
  })

  it('in English may be typed without marks, too', async () => {
    expect(await words('café naïve Straße', 'en')).toEqual(await words('cafe naive straße', 'en'))
  })

  it('keeps letters that are more than a letter with a mark', async () => {
    expect(await words('й', 'ru')).toEqual(['й'])
    expect(await words('が 각', 'ja')).toEqual(['が', '각'].sort())
  })

  it('is read to its end behind what looks like a tag', async () => {
    expect(await words('Write <script>alert</script> never, <https://example.com> rarely', 'en')).toEqual(
      expect.arrayContaining(['script', 'alert', 'never', 'rare']),
    )
  })

  it('is divided at a slash, which is no path here', async () => {
    expect(await words('handbook/leave and/or rest', 'en')).toEqual(['handbook', 'leav', 'rest'])
  })

  it('of a million different words, or of one without an end, is taken as far as it fits', async () => {
    const many = Array.from({ length: 150_000 }, (_, n) => `w${n.toString(36)}`).join(' ')
    expect((await words(many, 'en')).length).toBeGreaterThan(5000)
    expect(await words(`${'ﷺ'.repeat(200_000)} x`, 'ar')).toBeDefined()
    expect(await words('x'.repeat(10_000), 'en')).toEqual([])
  })
})

describe('a query', () => {
  it('asks for a word in every way in which a text may have it, and sets stop words apart', async () => {
    expect(await parse('What are the policies?')).toEqual({
      words: ['polici', 'policies'],
      stops: ['are', 'the', 'what'],
      phrases: [],
      prefixes: [],
      free: 'What are the policies?',
      excluded: [],
    })
  })

  it('knows a stop word by how it was typed: thế is none', async () => {
    expect(await parse('thế the')).toMatchObject({ stops: ['the'] })
    expect(await parse('thế nào')).toMatchObject({ stops: [], words: ['nao', 'the'] })
  })

  it('has phrases in quotes of any kind, and passes over a quote without its partner', async () => {
    expect(await parse('"annual leave" and “sick pay” or "rest')).toMatchObject({
      phrases: ['annual leave', 'sick pay'],
    })
    expect((await parse('"rest')).words).toEqual(['rest'])
    expect(await parse('"" " "')).toMatchObject({ phrases: [], words: [] })
  })

  it('has no phrase that is longer than any chunk', async () => {
    expect(await parse(`"${'a'.repeat(4000)}"`)).toMatchObject({ phrases: ['a'.repeat(4000)] })
    await expect(parse(`"${'word '.repeat(18_000)}"`)).rejects.toMatchObject({
      code: 'SD001',
      message: expect.stringMatching(/^A phrase in quotes has at most 4,000 characters/),
    })
  })

  it('has prefixes where a star ends a word', async () => {
    expect(await parse('pólic* 2*3 a* "x* y"')).toMatchObject({ prefixes: ['polic'] })
  })

  it('may be anything: controls, operators, nothing', async () => {
    expect((await parse('\u0001leave\u001b[31m & | ! ( ) : <-> \\')).words).toContain('leav')
    expect(await parse('')).toEqual({
      words: [],
      stops: [],
      phrases: [],
      prefixes: [],
      free: '',
      excluded: [],
    })
  })

  it('excludes words, phrases and beginnings behind a minus sign, and nothing else', async () => {
    expect(await parse('leave -sick -"carry over" -"polic*" -tax* paid')).toMatchObject({
      words: ['leav', 'leave', 'paid'],
      phrases: [],
      prefixes: [],
      excluded: ['sick', 'carry over', 'polic*', 'tax*'],
    })
    expect(await parse('part-time "x -y z" - no --flag -- -) 3-4')).toMatchObject({
      excluded: [],
      phrases: ['x -y z'],
    })
    expect((await parse('begin* paid “leave”')).free.split(/\s+/)).toEqual(['', 'paid', 'leave', ''])
  })

  it('is divided in the same way by the library', { tags: 'property' }, async () => {
    const piece = fc.constantFrom('-', '"', '“', ' ', 'a', 'be', '*', '-sick', '-"', 'é', '--', '1')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
        const query = pieces.join('')
        const { excluded } = await parse(query)
        const ours = splitExclusions(query)
        expect(ours.excluded).toEqual(excluded)
        expect(await parse(ours.text)).toMatchObject({ excluded: [] })
      }),
      { numRuns: cases(60, 1000) },
    )
  })
})

it('a known word has the keys that it has always had: an index stores them', async () => {
  const words = [
    'ab',
    'abc',
    'aaaa',
    'leave',
    'abcdefgh',
    'abcdefghi',
    'naïve',
    'ünïcödé',
    '😀a😀b',
    'x'.repeat(40),
  ]
  const rows = await db.owner(
    `select w from unnest($1::text[]) as w
      cross join lateral (select iu_core.fn_search_word_keys(n.id, w) as now,
                                 array(select hashtext(n.id || ' ' || case k when 0 then left(w, 8)
                                                                      else overlay(left(w, 8) placing '' from k for 1) end)
                                         from generate_series(0, least(char_length(w), 8)) as k where char_length(w) >= 3) as before
                            from (select '6f1c1c7e-3a52-4a7e-9d6b-0f4d2b9f5a11'::uuid as id) as n) as keys
      where not (keys.now @> keys.before and keys.now <@ keys.before)`,
    [words],
  )
  expect(rows).toEqual([])
  const [none] = await db.owner<{ keys: number[] }>(
    `select array(select unnest(iu_core.fn_search_word_keys(gen_random_uuid(), w)) from unnest($1::text[]) as w) as keys`,
    [['', 'ab', 'ab1', '2026', '日本語', 'กขค', 'y'.repeat(41)]],
  )
  expect(none!.keys).toEqual([])
})
