import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BLANKS } from '../../src/ingest/datasets/sql-text.ts'
import { inferType, profileFile } from '../../src/ingest/profile-file.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const home = temporaryHome('profile-file')

function file(name: string, text: string): string {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}

describe('the type of a column', () => {
  it.each([
    ['integer', ['1', '20', '-3']],
    ['text', ['007', '012', '100']],
    ['decimal', ['1,5', '20', '1.234,50']],
    ['money', ['1.234,50 €', '3,10 €', '€ 7']],
    ['money', ['USD 12.50', 'USD 1']],
    ['text', ['REF 100', 'REF 101']],
    ['percent', ['12 %', '3,5%']],
    ['boolean', ['ja', 'nein']],
    ['boolean', ['TRUE', 'false']],
    ['date', ['2026-01-31', '2026-02-01']],
    ['date', ['31.01.2026', '1.2.2026']],
    ['date', ['31 Jan 2026', 'Feb 1, 2026']],
    ['time', ['08:30', '12:00:05']],
    ['timestamp', ['2026-01-31 08:30', '2026-01-31T08:30:00']],
    ['timestamptz', ['2026-01-31T08:30:00Z', '2026-01-31 08:30:00+02:00']],
    ['uuid', ['6f9619ff-8b86-d011-b42d-00c04fc964ff']],
    ['email', ['a@example.com', 'b.c@example.org']],
    ['url', ['https://example.com/a', 'http://example.org']],
    ['json', ['{"a": 1}', '[]']],
    ['currency', ['EUR', 'USD']],
    ['text', ['red', 'green']],
    ['text', []],
  ] as const)('is %s for %j', (type, values) => {
    expect(inferType(values)).toBe(type)
  })

  it('is that of nearly all values: a few wrong ones do not make it text', () => {
    const values = [...Array.from({ length: 99 }, (_, index) => String(index + 1)), 'unknown']
    expect(inferType(values)).toBe('integer')
  })
})

describe('a file that nobody declared', () => {
  it('has its dialect, its columns with gaps and ranges, and its likely keys', async () => {
    const path = file(
      'products.csv',
      [
        'Artikel-Nr;Name;Preis;Geändert;Gruppe',
        'A-1;Säge;1.234,50 €;31.01.2026;Werkzeug',
        'A-2;Hammer;9,90 €;01.02.2026;Werkzeug',
        'A-3;Rechen;19,90 €;;Garten',
        'A-4;Säge;n/a;02.02.2026;-',
      ].join('\r\n'),
    )
    const { samples, ...profile } = await profileFile(path)
    expect(profile).toMatchObject({
      file: 'products.csv',
      format: 'csv',
      delimiter: ';',
      headerLine: 1,
      lines: 4,
      brokenLines: 0,
      decimal: 'comma',
      keys: [['Artikel-Nr']],
    })
    expect(profile.columns).toEqual([
      expect.objectContaining({
        header: 'Artikel-Nr',
        type: 'text',
        nulls: 0,
        distinct: 4,
        unique: true,
        min: 'A-1',
        max: 'A-4',
      }),
      expect.objectContaining({ header: 'Name', type: 'text', distinct: 3, unique: false, maxLength: 6 }),
      expect.objectContaining({
        header: 'Preis',
        type: 'money',
        nulls: 1,
        min: '9.90',
        max: '1234.50',
        misfits: 0,
      }),
      expect.objectContaining({
        header: 'Geändert',
        type: 'date',
        nulls: 1,
        min: '2026-01-31',
        max: '2026-02-02',
      }),
      expect.objectContaining({
        header: 'Gruppe',
        type: 'text',
        nulls: 1,
        distinct: 2,
        examples: ['Werkzeug', 'Garten'],
      }),
    ])
    expect(samples[4]).toEqual(['Werkzeug', 'Garten'])
  })

  it('counts what is not of the type, and looks at every line for it', async () => {
    const lines = Array.from(
      { length: 30_000 },
      (_, index) => `${index + 1},${index === 25_001 ? 'lots' : index % 90}`,
    )
    const { columns, lines: count } = await profileFile(file('many.csv', ['id,amount', ...lines].join('\n')))
    expect(count).toBe(30_000)
    expect(columns).toMatchObject([
      { type: 'integer', unique: true, distinct: 30_000, min: '1', max: '30000' },
      { type: 'integer', misfits: 1, unique: false },
    ])
  })

  it('finds two columns that are a key together where no single one is', async () => {
    const lines = Array.from(
      { length: 40 },
      (_, index) => `S${index % 8},2026-01-${String(1 + Math.floor(index / 8)).padStart(2, '0')},20.5`,
    )
    const { keys } = await profileFile(file('readings.csv', ['sensor,day,value', ...lines].join('\n')))
    expect(keys).toEqual([['sensor', 'day']])
  })

  it('takes blanks of every kind off the cells, at either end, beside letters of any script', async () => {
    const blanks = [...BLANKS].filter((blank) => !'\n\r'.includes(blank))
    const words = ['lamp', 'Größe', '~x~', 'é', 'đèn', '!']
    const cells = blanks.flatMap((blank) =>
      words.flatMap((word) => [
        word,
        `${blank}${word}`,
        `${word}${blank}`,
        `${blank}${word}${blank}${blank}`,
      ]),
    )
    const empty = [...blanks, ...blanks.map((blank) => `${blank}n/a${blank}`), '—', 'NULL']
    const lines = [...cells, ...empty].map((cell, index) => `${index + 1},"${cell}"`)
    const { columns } = await profileFile(file('blanks.csv', ['id,word', ...lines].join('\n')))
    expect(columns[1]).toMatchObject({
      nulls: empty.length,
      distinct: words.length,
      distinctIsEstimate: false,
      min: '!',
      max: 'đèn',
      maxLength: 5,
    })
  })

  it('finds the one value that is there twice, however far apart', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => {
      const code = index === 39_998 ? 7 : index
      return `R${index},C${code},${index % 300},D${index % 20_000}`
    })
    const profile = await profileFile(file('twice.csv', ['ref,code,few,many', ...lines].join('\n')))
    expect(profile.columns).toMatchObject([
      { unique: true, distinct: 40_000, distinctIsEstimate: false },
      { unique: false, distinctIsEstimate: true },
      { unique: false, distinct: 300, distinctIsEstimate: false },
      { unique: false, distinctIsEstimate: true },
    ])
    expect(profile.keys).toEqual([['ref']])
  })

  it('says from how many lines types and styles were inferred', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `${index},${index % 7}.5`)
    const long = await profileFile(file('sampled.csv', ['id,amount', ...lines].join('\n')))
    expect(long.sampled.types).toBeGreaterThan(1000)
    expect(long.sampled.types).toBeLessThanOrEqual(3000)
    expect(long.sampled.styles).toBe(30_000)
    const short = await profileFile(file('whole.csv', ['id,amount', ...lines.slice(0, 50)].join('\n')))
    expect(short.sampled).toEqual({ types: 50, styles: 50 })
  })

  it('reads 40 columns of which each is unique, within DuckDB’s memory', { tags: 'long' }, async () => {
    const names = Array.from({ length: 40 }, (_, index) => `c${index}`)
    const lines = Array.from({ length: 120_000 }, (_, line) =>
      names.map((name) => `${name}-${line}`).join(','),
    )
    const { columns } = await profileFile(file('unique.csv', [names.join(','), ...lines].join('\n')))
    expect(columns.filter(({ unique }) => unique).length).toBeGreaterThanOrEqual(8)
  })

  it('says that lines are broken, and leaves nothing behind', async () => {
    const { brokenLines, columns } = await profileFile(file('broken.csv', 'a,b\n1,2\n3,4,5\n6,7\n8,9\n'))
    expect(brokenLines).toBe(1)
    expect(columns).toHaveLength(2)
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith('stagedoor-profile-'))
    for (const name of left) expect(existsSync(join(tmpdir(), name, 'file'))).toBe(false)
  })

  it('reads 300 columns', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `m${index}`)
    const line = (by: number) => names.map((_, index) => index * by).join(',')
    const { columns } = await profileFile(file('wide.csv', [names.join(','), line(1), line(2)].join('\n')))
    expect(columns).toHaveLength(300)
    expect(columns[299]).toMatchObject({ header: 'm299', type: 'integer', min: '299', max: '598' })
  })
})
