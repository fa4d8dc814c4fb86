/** What a question may ask for beside words: misspelt words, synonyms, the word that is still typed; and the log of questions without hits. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  addSynonyms,
  deleteSynonyms,
  listSynonyms,
  missedLog,
  missedQuestions,
  setMissedLog,
} from '../../src/search/synonyms.ts'
import { fastestMs } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { type Asked, createKnowledge, type Knowledge } from './knowledge.ts'

const db = useDatabase()
let know: Knowledge
const found = async (text: string, options?: Asked) =>
  (await know.ask(text, options)).hits.map(({ canonical_address }) => canonical_address).sort()

beforeAll(async () => {
  know = await createKnowledge(db)
  await know.unit('handbook/leave', 'Every employee has 28 days of annual leave. The policies say when.')
  await know.unit('handbook/travel', 'Trains before planes. Ask the cat about parking; code AB123.')
  await know.unit('so-tay/nghi', 'Nhân viên được nghỉ phép hằng năm.', { language: 'vi' })
  await know.unit('ru/otpusk', 'Сотрудник получает ежегодный отпуск.', { language: 'ru' })
})

describe('a misspelt word', () => {
  it.each([
    ['anual leave', 'annual leave'],
    ['annaul', 'annual'],
    ['emplyee', 'employee'],
    ['emlpoyee', 'employee'],
    ['kolicies', 'policies'],
    ['polciies', 'policies'],
    ['парковка otpusk отпсук', undefined],
    ['отпсук', 'отпуск'],
    ['nghhỉ phép', 'nghỉ phép'],
  ])('%s is replaced by the nearest known word', async (typed, meant) => {
    const answer = await know.ask(typed)
    if (meant === undefined) return expect(answer.corrected?.text).toBe('парковка otpusk отпуск')
    expect(answer.corrected).toMatchObject({ text: meant, instead: typed })
    expect(answer.hits.length).toBeGreaterThan(0)
    expect(answer.hits[0]!.highlights.length).toBeGreaterThan(0)
  })

  it('is none that is only too common to be searched for, whatever languages there are', async () => {
    const other = await createKnowledge(db)
    await other.unit('fields/wheat', 'The wheat was sown whence the war came. Three thaws, same width.')
    await other.unit('camps/blat', 'Els camps de blat són grans.', { language: 'ca' })
    await other.unit('champs/ble', 'Le blé est une céréale, mémé le sait.', { language: 'fr' })
    for (const question of ['what is there when they were with that wheat', 'le même blé'])
      expect((await other.ask(question)).corrected).toBeUndefined()
  })

  it('is not replaced by a word of which only the stem is near', async () => {
    const other = await createKnowledge(db)
    await other.unit('a/b', 'A resident pays. The entitlement is mistakenly high.')
    for (const question of ['besides', 'entity'])
      expect((await other.ask(question)).corrected).toBeUndefined()
  })

  it('of less than six letters is not replaced by one with another ending, too', async () => {
    const other = await createKnowledge(db)
    await other.unit('shop/boots', 'The boots are by the door, the patterns of the genes in the drawer.')
    expect((await other.ask('the book')).corrected).toBeUndefined()
    expect((await other.ask('genre')).corrected).toBeUndefined()
    expect((await other.ask('bootz')).corrected?.text).toBe('boots')
    expect((await other.ask('patern')).corrected?.text).toBe('patterns')
  })

  it('is asked for as it is on request', async () => {
    const exact = await know.ask('anual', { exact: true })
    expect(exact.corrected).toBeUndefined()
    expect(exact.hits).toEqual([])
    expect(exact.no_hits!.unknown_words).toEqual([{ word: 'anual', similar: ['annual'] }])
  })

  it.each(['cta', 'AB124', 'cats', 'xyzzyplugh', 'planes', '"anual leave days"'])(
    'is not %s: short, a code, known, like nothing, or in quotes',
    async (typed) =>
      expect((await know.ask(typed)).corrected?.words ?? []).toEqual(
        typed.includes('"') ? [{ word: 'anual', replaced_by: 'annual' }] : [],
      ),
  )

  it('counts as known as soon as a text that waits has it', async () => {
    const unit = await know.unit('handbook/ferry', 'Ships cross at noon.')
    expect((await know.ask('emploves')).corrected).toBeDefined()
    await know.edit(unit, 'The emploves cross at noon.')
    expect((await know.ask('emploves')).corrected).toBeUndefined()
  })

  it('never shows words of another workspace', async () => {
    const others = await createKnowledge(db)
    await others.unit('x', 'The zirconium gate.')
    expect((await know.ask('zirconum')).corrected).toBeUndefined()
  })
})

describe('a word that is still typed', () => {
  it('is a beginning, and is completed', async () => {
    const answer = await know.ask('days of ann', { typing: true })
    expect(answer.hits[0]!.canonical_address).toBe('handbook/leave')
    expect(answer.suggestions).toEqual(['days of annual'])
    expect(answer.corrected).toBeUndefined()
    expect(answer.legs.dense).toBe('off')
    expect((await know.ask('days of ann')).suggestions).toBeUndefined()
  })

  it('is completed to words as texts write them, also behind their stem', async () => {
    expect((await know.ask('polic', { typing: true })).suggestions).toEqual(['policies'])
    expect((await know.ask('policie', { typing: true })).suggestions).toEqual(['policies'])
    expect((await know.ask('отп', { typing: true })).suggestions).toEqual(['отпуск'])
  })

  it('is none in quotes, behind a blank, or of one letter', async () => {
    for (const text of ['"annual le', 'ann ', 'a'])
      expect((await know.ask(text, { typing: true })).suggestions).toEqual([])
  })

  it('does not explain why there is nothing', async () => {
    expect((await know.ask('zzzz', { typing: true })).no_hits).toBeUndefined()
  })
})

describe('quotes that find nothing', () => {
  it('are asked for without them, with misspelt words corrected', async () => {
    const answer = await know.ask('"anual leave"')
    expect(answer.hits[0]!.canonical_address).toBe('handbook/leave')
    expect(answer.warnings).toEqual([expect.stringMatching(/without the quotes/)])
    expect(answer.corrected!.words).toEqual([{ word: 'anual', replaced_by: 'annual' }])
  })
})

describe('synonyms', () => {
  const asAdmin = <T>(work: Parameters<typeof db.as<T>>[1]) => db.as(know.people.admin, work)
  const add = (word: string, synonyms: string[], both = false) =>
    asAdmin((client) => addSynonyms(client, know.workspace, { word, synonyms, both }))

  it('are asked for in addition, and are named', async () => {
    expect(await found('PTO')).toEqual([])
    expect(await add('PTO', ['annual leave'], true)).toBe(2)
    const answer = await know.ask('PTO days')
    expect(answer.hits[0]!.canonical_address).toBe('handbook/leave')
    expect(answer.synonyms).toEqual([{ word: 'pto', synonyms: ['annual leave'] }])
    expect(answer.corrected).toBeUndefined()
    expect((await know.ask('annual leave')).synonyms).toEqual([{ word: 'annual leave', synonyms: ['pto'] }])
    expect((await know.ask('PTO', { exact: true })).synonyms).toBeUndefined()
    expect((await know.ask('"PTO"', { exact: true })).hits).toEqual([])
  })

  it('in a cycle are harmless: only what was asked is looked up', async () => {
    for (const [word, synonym] of [
      ['aa1', 'bb1'],
      ['bb1', 'cc1'],
      ['cc1', 'aa1'],
    ] as const)
      await add(word, [synonym])
    expect((await know.ask('aa1')).synonyms).toEqual([{ word: 'aa1', synonyms: ['bb1'] }])
  })

  it('are listed by word and deleted', async () => {
    await add('holiday', ['leave', 'vacation'])
    const list = () => asAdmin((client) => listSynonyms(client, know.workspace, { limit: 1, after: 'h' }))
    expect(await list()).toMatchObject([{ word: 'holiday', synonyms: ['leave', 'vacation'] }])
    const remove = (synonyms?: string[]) =>
      asAdmin((client) => deleteSynonyms(client, know.workspace, { word: 'Holiday', synonyms }))
    expect(await remove(['vacation'])).toBe(1)
    expect(await remove()).toBe(1)
    await expect(remove()).rejects.toMatchObject({ code: 'synonym_not_found' })
  })

  it('are for administrators to change, and nobody elsewhere sees them', async () => {
    for (const person of [know.people.viewer, know.people.agent, know.people.stranger])
      expect(
        await sqlstateOf(
          db.as(person, (client) =>
            client.query('select iu_core.fn_search_synonym_add($1, $2, $3)', [know.workspace, 'a', ['b']]),
          ),
        ),
      ).toMatch(/^SD|42501/)
    await expect(
      db.as(know.people.stranger, (client) => listSynonyms(client, know.workspace)),
    ).rejects.toMatchObject({ code: 'not_member' })
  })

  it.each([
    ['', ['b']],
    ['a', []],
    ['a', ['a']],
    ['A', ['á']],
    ['one two three four five', ['b']],
    ['x'.repeat(101), ['b']],
    ['\u0001', ['b']],
  ])('of %j as %j are refused', async (word, synonyms) => {
    await expect(add(word, synonyms)).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('have a budget', async () => {
    const many = Array.from({ length: 21 }, (_, n) => `s${n}`)
    await expect(add('full', many)).rejects.toMatchObject({ code: 'synonym_limit' })
    expect(await add('full', many.slice(1))).toBe(20)
    await db.owner(
      `insert into iu_core.search_synonym (workspace_id, word, synonym, created_by)
       select $1, 'w' || n, 's', 'test' from generate_series(1, 2000 - (select count(*)::integer from iu_core.search_synonym where workspace_id = $1)) n`,
      [know.workspace],
    )
    await expect(add('more', ['than'])).rejects.toMatchObject({ code: 'synonym_limit' })
    await db.owner(`delete from iu_core.search_synonym where workspace_id = $1 and word like 'w%'`, [
      know.workspace,
    ])
  })
})

describe('the log of questions without hits', () => {
  const asAdmin = <T>(work: Parameters<typeof db.as<T>>[1]) => db.as(know.people.admin, work)
  const questions = async () =>
    (await asAdmin((client) => missedQuestions(client, know.workspace))).map(({ question, times }) => [
      question,
      times,
    ])

  it('is empty until an administrator asks for it, and is deleted when they do not want it any more', async () => {
    await know.ask('xylophone')
    expect(await questions()).toEqual([])
    await expect(
      db.as(know.people.operator, (client) => setMissedLog(client, know.workspace, { on: true })),
    ).rejects.toMatchObject({ status: 403 })
    await asAdmin((client) => setMissedLog(client, know.workspace, { on: true, days: 7 }))
    await know.ask('xylophone  lessons')
    await know.ask('xylophone lessons')
    await know.ask('annual')
    await know.ask('xylophone', { filters: { kind: 'section' } })
    expect(await questions()).toEqual([['xylophone lessons', 2]])
    await expect(
      db.as(know.people.operator, (client) => missedQuestions(client, know.workspace)),
    ).rejects.toMatchObject({ status: 403 })
    expect(await asAdmin((client) => missedLog(client, know.workspace))).toEqual({
      on: true,
      days: 7,
      questions: 1,
    })
    await asAdmin((client) => setMissedLog(client, know.workspace, { on: false }))
    expect(await questions()).toEqual([])
  })

  it('holds 1,000 questions of 200 characters, for as long as was said', async () => {
    await asAdmin((client) => setMissedLog(client, know.workspace, { on: true, days: 7 }))
    await know.ask('y'.repeat(500))
    expect(await questions()).toEqual([['y'.repeat(200), 1]])
    await db.owner(
      `insert into iu_core.search_missed (workspace_id, question, last_at)
       select $1, 'q' || n, now() - n * interval '1 second' from generate_series(1, 1100) n`,
      [know.workspace],
    )
    await db.owner(
      `update iu_core.search_missed set last_at = now() - interval '8 days' where question = 'q1'`,
    )
    await know.ask('xylophone')
    const [row] = await db.owner<{ many: number; old: number }>(
      `select count(*)::integer as many, (count(*) filter (where question in ('q1', 'q1100')))::integer as old
         from iu_core.search_missed where workspace_id = $1`,
      [know.workspace],
    )
    expect(row!.many).toBeLessThanOrEqual(1000)
    expect(row!.old).toBe(0)
    await asAdmin((client) => setMissedLog(client, know.workspace, { on: false }))
  })
})

describe('bad input', () => {
  it('of 10,000 words is answered', async () => {
    const words = Array.from({ length: 10_000 }, (_, n) => `anual${n % 7 === 0 ? '' : n}`).join(' ')
    const answer = await know.ask(words, { facets: true, explain: true, context: true })
    expect(answer.hits[0]!.canonical_address).toBe('handbook/leave')
    expect(answer.warnings.join()).toMatch(/64 rarest/)
  })

  it('of any characters is answered, or refused in words', { tags: 'property' }, async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '-',
        '"',
        '*',
        ' ',
        'anual ',
        'leave',
        '“',
        '\\',
        "'",
        ':',
        '\u0000',
        '\ud800',
        '年假 ',
        'ﷺ',
        'a\u0301',
        '%',
        '(',
        '|',
        '&',
        '!',
        '<',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        async (pieces, typing) => {
          try {
            await know.ask(pieces.join(''), { typing, facets: !typing, explain: true })
          } catch (error) {
            expect(error).toMatchObject({ code: 'argument_invalid' })
          }
        },
      ),
      { numRuns: cases(40, 2000) },
    )
  })
})

describe('among 100,000 known words', () => {
  it('the nearest ones are found in milliseconds', { tags: 'long', timeout: 120_000 }, async () => {
    const many = await createKnowledge(db)
    await many.unit('one', 'The annual report.')
    await db.owner(
      `with word as (
         insert into iu_core.search_lexeme (workspace_id, lexeme, chunks)
         select $1, 'w' || translate(md5(n::text), '0123456789', 'ghijklmnop'), 1 from generate_series(1, 100000) n returning lexeme_id)
       insert into iu_core.search_posting (lexeme_id, chunk_no, count, length)
       select w.lexeme_id, c.chunk_no, 1, 3 from word w cross join (select chunk_no from iu_core.search_chunk where workspace_id = $1) c`,
      [many.workspace],
    )
    await db.owner('analyze iu_core.search_lexeme')
    const ask = () =>
      db.as(many.people.viewer, (client) =>
        client.query<{ known: unknown[] }>(
          `select iu_core.fn_search_question($1, '{anual,reprot}') -> 'unknown' -> 0 -> 'known' as known`,
          [many.workspace],
        ),
      )
    expect((await ask()).rows[0]!.known).toMatchObject([{ lexeme: 'annual' }])
    expect(await fastestMs(ask, 20)).toBeLessThan(20)
  })
})
