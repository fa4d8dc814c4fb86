import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readTable } from '../../../src/ingest/datasets/catalogue.ts'
import { checkDataset } from '../../../src/ingest/datasets/declare.ts'
import type { Answers, Proposal } from '../../../src/ingest/datasets/proposal.ts'
import { proposeDataset } from '../../../src/ingest/datasets/propose.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { profileFile } from '../../../src/ingest/profile-file.ts'
import { useDatabase } from '../../support/database.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('propose-questions')
afterAll(closeDuck)

async function proposed(ddl: string, table: string, lines: readonly string[], answers: Answers = {}) {
  const path = join(home, 'file.csv')
  writeFileSync(path, lines.join('\n'))
  const session = await db.session('postgres')
  await session.query('begin')
  try {
    await session.query(ddl)
    const proposal = proposeDataset(await readTable(session, table), await profileFile(path), answers)
    if (proposal.obstacles.length === 0) expect(checkDataset(proposal.dataset)).toEqual([])
    return proposal
  } finally {
    await session.query('rollback')
    await session.end()
  }
}

describe('a key that no column of the file is known to be', () => {
  const PARTS = `create table public.parts (id bigint generated always as identity primary key, sku text not null unique, label text, colour text)`
  const LINES = ['Zeichen,Label,Colour,Lot', 'X-1,Saw,red,7', 'X-2,Axe,red,7', 'X-3,Rake,blue,8']

  it('is asked for, with the columns that are filled and different in every line', async () => {
    const { questions, obstacles } = await proposed(PARTS, 'public.parts', LINES)
    expect(questions).toContainEqual({
      about: 'key column',
      column: 'sku',
      text: 'Which column of the file is sku, the key of public.parts?',
      choices: ['Zeichen'],
      option: '--set "Zeichen=sku"',
    })
    expect(obstacles).toEqual([
      {
        problem: 'no column of the file is known to be sku, the key of public.parts',
        remedy: 'Say which column it is: --set "Zeichen=sku" (filled and different in every line: Zeichen).',
      },
    ])
    expect(JSON.stringify(obstacles)).not.toContain('create unique index')
  })

  it('is settled by the answer', async () => {
    const { dataset, questions, obstacles } = await proposed(PARTS, 'public.parts', LINES, {
      map: { Zeichen: 'sku' },
    })
    expect(dataset.rows[0]).toMatchObject({ key: ['sku'], columns: { sku: 'sku', label: 'label' } })
    expect({ questions, obstacles }).toEqual({ questions: [], obstacles: [] })
  })

  it('is asked for also where --key names it', async () => {
    const { questions, obstacles } = await proposed(PARTS, 'public.parts', LINES, { key: ['sku'] })
    expect(questions[0]).toMatchObject({ about: 'key column', column: 'sku' })
    expect(obstacles).toHaveLength(1)
  })

  it('says so where no column can be it', async () => {
    const { obstacles } = await proposed(PARTS, 'public.parts', ['Lot,Colour', '7,red', '7,blue', '8,blue'])
    expect(obstacles[0]!.remedy).toMatch(
      /no open column of the file is filled and different in every line; open are: Lot/,
    )
  })

  it('is asked for part by part where it has several columns', async () => {
    const ddl =
      'create table public.prices (id serial primary key, sku text not null, region text not null, amount numeric, unique (sku, region))'
    const lines = ['SKU,Wo,Amount', 'A,north,1.5', 'A,south,1.7', 'B,north,2.5']
    const { questions } = await proposed(ddl, 'public.prices', lines)
    expect(questions[0]).toMatchObject({
      about: 'key column',
      column: 'region',
      text: 'Which column of the file is region, part of the key with sku of public.prices?',
      choices: ['Wo'],
    })
  })

  it('offers each of several keys', async () => {
    const ddl =
      'create table public.staff (id serial primary key, badge text not null unique, login text not null unique, town text)'
    const { questions } = await proposed(ddl, 'public.staff', [
      'Zeichen,Konto1,Town',
      'X1,ann,Bonn',
      'X2,bob,Bonn',
    ])
    expect(questions[0]).toMatchObject({ about: 'key column', option: '--set "Zeichen=badge"' })
    expect(questions[0]!.choices).toEqual(['Zeichen=badge', 'Konto1=badge', 'Zeichen=login', 'Konto1=login'])
  })

  it('of a table whose only key the database fills, both ways are named', async () => {
    const ddl =
      'create table public.memos (id bigint generated always as identity primary key, code text, body text)'
    const { obstacles } = await proposed(ddl, 'public.memos', ['Code,Body', 'A,one', 'B,two'])
    expect(obstacles[0]!.problem).toContain('the database fills the only unique key of public.memos, id')
    expect(obstacles[0]!.remedy).toMatch(
      /--set "Header=id"[\s\S]*If code tells rows apart, make it a key: create unique index on public\.memos \("code"\);/,
    )
  })

  it('quotes a header for the shell', async () => {
    const { questions } = await proposed(PARTS, 'public.parts', ['"a ""b"" $c",Label', 'X-1,Saw', 'X-2,Axe'])
    expect(questions[0]!.option).toBe('--set "a \\"b\\" \\$c=sku"')
  })
})

describe('several keys that the file fills', () => {
  const STAFF =
    'create table public.staff (id serial primary key, badge text not null unique, login text not null unique, town text);'
  const LINES = ['Badge,Login,Town', 'X1,ann,Bonn', 'X2,bob,Bonn', 'X3,cyd,Kiel']

  it('are asked about where nothing tells them apart', async () => {
    const { questions } = await proposed(STAFF, 'public.staff', LINES)
    expect(questions).toMatchObject([{ about: 'key', choices: ['badge', 'login'] }])
  })

  it('are told apart by the values that the table has', async () => {
    const rows = `${STAFF} insert into public.staff (badge, login) values ('Y1', 'ann'), ('Y2', 'bob'), ('Y3', 'cyd')`
    const { dataset, questions } = await proposed(rows, 'public.staff', LINES)
    expect({ key: dataset.rows[0]!.key, questions }).toEqual({ key: ['login'], questions: [] })
  })
})

describe('values that leave something open', () => {
  const ITEMS = `create table public.items (code text primary key, tags text[], seen date, price numeric(10,2), share numeric(6,3), zip integer, active boolean, at timestamptz)`
  const asked = ({ questions }: Proposal) => questions.map(({ about, option }) => [about, option])
  const shown = ({ columns }: Proposal) =>
    Object.fromEntries(columns.map(({ header, certainty }) => [header, certainty]))

  it('cells with different separators are uncertain, not used, and asked about', async () => {
    const lines = ['Code,Tags', 'A,"wood, steel"', 'B,wood; glass', 'C,steel']
    const open = await proposed(ITEMS, 'public.items', lines)
    expect(shown(open)).toMatchObject({ Tags: 'uncertain' })
    expect(asked(open)).toEqual([['separator', '--separator "tags=;"']])
    expect(open.questions[0]).toMatchObject({ choices: [';', ','] })
    expect(open.dataset.fields.tags).toBeUndefined()
    const answered = await proposed(ITEMS, 'public.items', lines, { separators: { tags: ',' } })
    expect(answered.questions).toEqual([])
    expect(answered.dataset.fields.tags).toMatchObject({ separator: ',' })
    // As a word of a shell.
    const quoted = await proposed(ITEMS.replace('tags', '"$tags"'), 'public.items', lines)
    expect(asked(quoted)).toEqual([['separator', '--separator "\\$tags=;"']])
  })

  it('one separator is sure, and the marks of an address and of a list of PostgreSQL are none', async () => {
    const one = await proposed(ITEMS, 'public.items', ['Code,Tags', 'A,wood|steel', 'B,wood'])
    expect([asked(one), one.dataset.fields.tags!.separator]).toEqual([[], '|'])
    const address = await proposed(ITEMS, 'public.items', [
      'Code,Tags',
      'A,"https://a.example/x, https://b.example"',
      'B,"{wood;x,steel}"',
    ])
    expect([asked(address), address.dataset.fields.tags!.separator]).toEqual([[], ','])
  })

  it('01/02/2024 is asked about, unless another date of the file tells', async () => {
    const open = await proposed(ITEMS, 'public.items', ['Code,Seen', 'A,01/02/2024', 'B,03/04/2024'])
    expect(asked(open)).toEqual([['dates', '--dates dmy']])
    const told = await proposed(ITEMS, 'public.items', ['Code,Seen', 'A,01/02/2024', 'B,31/01/2024'])
    expect(asked(told)).toEqual([])
    const mixed = await proposed(ITEMS, 'public.items', [
      'Code,Seen',
      'A,01/02/2024',
      'B,31/01/2024',
      'C,01/31/2024',
    ])
    expect(asked(mixed)).toEqual([['dates', '--dates dmy']])
    const answered = await proposed(ITEMS, 'public.items', ['Code,Seen', 'A,01/02/2024'], { dates: 'mdy' })
    expect(asked(answered)).toEqual([])
    const same = await proposed(ITEMS, 'public.items', ['Code,Seen', 'A,02/02/2024', 'B,2024-03-04'])
    expect(asked(same)).toEqual([])
  })

  it('1.234 is asked about, unless another number of the file tells', async () => {
    const open = await proposed(ITEMS, 'public.items', ['Code;Price', 'A;1.234', 'B;5.678'])
    expect(asked(open)).toEqual([['decimal', '--decimal comma']])
    const told = await proposed(ITEMS, 'public.items', ['Code;Price', 'A;1.234', 'B;5.678,50'])
    expect(asked(told)).toEqual([])
    const mixed = await proposed(ITEMS, 'public.items', ['Code;Price', 'A;1.234', 'B;5,50', 'C;7.25'])
    expect(asked(mixed)).toEqual([['decimal', '--decimal comma']])
    const answered = await proposed(ITEMS, 'public.items', ['Code;Price', 'A;1.234'], { decimal: 'dot' })
    expect(asked(answered)).toEqual([])
  })

  it('a timestamp without a zone is asked about', async () => {
    const open = await proposed(ITEMS, 'public.items', [
      'Code,At',
      'A,2024-01-31 10:00',
      'B,2024-01-31 11:00',
    ])
    expect(asked(open)).toEqual([['zone', '--zone Europe/Berlin']])
  })

  it('80 % is asked about, unless the table tells', async () => {
    const lines = ['Code,Share', 'A,80 %', 'B,12.5 %']
    const open = await proposed(ITEMS, 'public.items', lines)
    expect(shown(open)).toMatchObject({ Share: 'uncertain' })
    expect(asked(open)).toEqual([['percent', '--percent "share=points"']])
    const points = await proposed(ITEMS, 'public.items', lines, { percents: { share: 'points' } })
    expect(points.dataset.fields.share).toMatchObject({ type: 'decimal', replace: [{ with: '' }] })
    const fraction = await proposed(ITEMS, 'public.items', lines, { percents: { share: 'fraction' } })
    expect(fraction.dataset.fields.share).toMatchObject({ type: 'percent' })
    const rows = (values: string) => `${ITEMS}; insert into public.items (code, share) values ${values}`
    const known = await proposed(rows(`('A', 80), ('B', 0.5)`), 'public.items', lines)
    expect([asked(known), known.dataset.fields.share!.type]).toEqual([[], 'decimal'])
    const small = await proposed(rows(`('A', 0.8), ('B', 1)`), 'public.items', lines)
    expect([asked(small), small.dataset.fields.share!.type]).toEqual([[], 'percent'])
    const narrow = ITEMS.replace('numeric(6,3)', 'numeric(4,3)')
    expect(asked(await proposed(narrow, 'public.items', lines))).toEqual([])
  })

  it.each([
    ['mostly with', 15],
    ['half with', 10],
    ['mostly without', 1],
    ['all but one with', 39],
  ])('numbers with and without a percent sign in one column (%s) are asked about', async (_, signed) => {
    const ddl = `create table public.rates (code text primary key, discount numeric); insert into public.rates select 'R' || n, n from generate_series(1, 20) n`
    const count = Math.max(20, signed + 1)
    const lines = [
      'Code;Discount',
      ...Array.from({ length: count }, (_, at) => `R${at + 1};${at + 1},5${at < signed ? ' %' : ''}`),
    ]
    const open = await proposed(ddl, 'public.rates', lines)
    expect(shown(open)).toMatchObject({ Discount: 'uncertain' })
    expect(asked(open)).toEqual([['percent', '--percent "discount=points"']])
    expect(open.questions[0]!.text).toMatch(/\(1,5 %\) and without one \(\d+,5\)/)
    expect(open.dataset.fields.discount).toBeUndefined()
    const points = await proposed(ddl, 'public.rates', lines, { percents: { discount: 'points' } })
    expect(points.questions).toEqual([])
    expect(points.dataset.fields.discount).toMatchObject({ type: 'decimal', replace: [{ with: '' }] })
    const fraction = await proposed(ddl, 'public.rates', lines, { percents: { discount: 'fraction' } })
    expect(fraction.questions).toEqual([])
    expect(fraction.dataset.fields.discount).toMatchObject({ type: 'percent' })
    expect(fraction.dataset.fields.discount!.replace).toBeUndefined()
  })

  it('a 0 without a percent sign among percentages is no doubt', async () => {
    const ddl = `create table public.rates (code text primary key, discount numeric); insert into public.rates values ('A', 10), ('B', 20)`
    const { questions, dataset } = await proposed(ddl, 'public.rates', [
      'Code,Discount',
      'A,10 %',
      'B,0',
      'C,5 %',
    ])
    expect([questions, dataset.fields.discount!.type]).toEqual([[], 'decimal'])
  })

  it('percentages without a sign are held against the rows of the table', async () => {
    const ddl = `create table public.deals (code text primary key, probability_pct numeric); insert into public.deals values ('A', 0.8), ('B', 0.25)`
    const open = await proposed(ddl, 'public.deals', ['Code,Probability pct', 'A,80', 'B,25'])
    expect(asked(open)).toEqual([['column', '--set "Probability pct=probability_pct"']])
    expect(open.questions[0]!.text).toContain('up to 80')
  })

  it('leading zeros are not lost in an integer column without a question', async () => {
    const open = await proposed(ITEMS, 'public.items', ['Code,Zip', 'A,01067', 'B,80331'])
    expect(shown(open)).toMatchObject({ Zip: 'uncertain' })
    expect(open.questions).toMatchObject([
      { about: 'column', option: '--set "Zip=zip"', text: expect.stringContaining('01067') },
    ])
    const answered = await proposed(ITEMS, 'public.items', ['Code,Zip', 'A,01067', 'B,80331'], {
      map: { Zip: 'zip' },
    })
    expect([asked(answered), answered.dataset.fields.zip!.type]).toEqual([[], 'integer'])
  })

  it('0 and 1 are what the column is; a third value in a boolean is asked about', async () => {
    const plain = await proposed(ITEMS, 'public.items', ['Code,Active,Zip', 'A,1,0', 'B,0,1'])
    expect([asked(plain), plain.dataset.fields.active!.type, plain.dataset.fields.zip!.type]).toEqual([
      [],
      'boolean',
      'integer',
    ])
    const open = await proposed(ITEMS, 'public.items', ['Code,Active', 'A,1', 'B,0', 'C,2'])
    expect(open.questions).toMatchObject([
      { about: 'column', text: expect.stringContaining('neither yes nor no (2)') },
    ])
    const words = await proposed(ITEMS, 'public.items', ['Code,Active', 'A,Sim', 'B,Não'])
    expect(asked(words)).toEqual([])
  })

  it('amounts in several currencies are asked about, unless a column names the currency', async () => {
    const open = await proposed(ITEMS, 'public.items', ['Code,Price', 'A,€12.50', 'B,$13.50', 'C,€9.10'])
    expect(open.questions).toMatchObject([
      { about: 'column', text: expect.stringContaining('several currencies (€, $)') },
    ])
    const named = await proposed(ITEMS, 'public.items', [
      'Code,Price,Currency',
      'A,€12.50,EUR',
      'B,$13.50,USD',
    ])
    expect(asked(named)).toEqual([])
    const one = await proposed(ITEMS, 'public.items', ['Code,Price', 'A,€12.50', 'B,€13.50'])
    expect(asked(one)).toEqual([])
  })
})
