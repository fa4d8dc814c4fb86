import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
