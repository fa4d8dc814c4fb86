/** One rule source: a line of a file and the same line alone, as a repair checks it, get the very same verdict. */
// @module-tag property
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { Dataset } from '../../src/ingest/datasets/dataset.ts'
import type { Styles } from '../../src/ingest/datasets/profile.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { ads } from '../../src/ingest/packs.ts'
import { cases } from '../support/length.ts'
import { SEED } from '../support/seed.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { allTypes } from './datasets/all-types.ts'
import { checkedAlone } from './datasets/checked-alone.ts'
import { judgeFile } from './datasets/judge-file.ts'

const home = temporaryHome('verdicts')
afterAll(closeDuck)

const HEADERS: Record<string, string[]> = {
  file: [...Object.keys(allTypes.fields), 'name', 'Something else'],
  meta: [
    'Campaign name',
    'Campaign ID',
    'Ad set name',
    'Ad ID',
    'Ad name',
    'Reporting starts',
    'Reporting ends',
    'Delivery status',
    'Amount spent (AUD)',
    'Impressions',
    'Reach',
    'Link clicks',
    'Results',
    'Age',
    'Gender',
    'Ad name',
  ],
  google: [
    'Campaign',
    'Campaign status',
    'Day',
    'Currency code',
    'Cost',
    'Impr.',
    'Clicks',
    'Conversions',
    'Conv. value',
  ],
  tiktok: [
    'campaign_id',
    'Campaign name',
    'Ad Group Name',
    'Ad Name',
    'Date',
    'Cost',
    'Impression',
    'Clicks (Destination)',
    'Conversions',
    'Currency',
    'Video views',
  ],
}

const NASTY = [
  ...[
    '',
    ' ',
    '-',
    '--',
    ' --',
    '—',
    'N/A',
    'null',
    '\u00a0',
    '\u200b',
    '\ufeff',
    '\t',
    '\n',
    'a\r\nb',
    '\ufffd',
    '\u0001',
    '\u202e',
  ],
  ...[
    '0',
    '7',
    '007',
    '-3',
    '+3',
    '−3',
    '(12.50)',
    '1,234',
    '1.234',
    '12.000',
    '1,234.56',
    '1.234,56',
    '12,50',
    '.5',
    '5.',
    "1'234.50",
  ],
  ...[
    '1\u202f234,5',
    '1,23,4',
    '1e5',
    '1.2E+17',
    '9223372036854775808',
    '99999999999999999999999999999999999',
    'NaN',
    'Infinity',
  ],
  ...[
    '$5',
    '12.50 €',
    'AUD 3',
    '15540000',
    '0.000001',
    '< 10%',
    '> 90%',
    '12.5 %',
    '100%',
    '5%x',
    '1O00',
    '0x1F',
    '１２',
  ],
  ...[
    '2026-02-28',
    '2026-02-29',
    '2024-02-29',
    '2026-13-01',
    '01/02/2026',
    '31/01/2026',
    '01/31/2026',
    '1.2.2026',
    '20260131',
    '46000',
  ],
  ...[
    'Jan 5, 2026',
    '5 janvier 2026',
    '2026年1月5日',
    '2026-01-05T23:59:59Z',
    '1850-01-01',
    '00/00/0000',
    'yesterday',
    'All',
  ],
  ...[
    '120211234567890123',
    '120211234567890000',
    "'120211234567890123",
    '="12"',
    'c:12',
    '12.0',
    '1.20253E+17',
    'abc',
  ],
  ...[
    'Total',
    'Total: Account',
    'Total of 3 results',
    'Gesamt',
    'sum of all',
    'on',
    'ON',
    'läuft',
    'la\u0308uft',
    'paused',
    'H',
    'ELIGIBLE_LIMITED',
  ],
  ...[
    'true',
    'TRUE',
    'wahr',
    'maybe',
    'USD',
    'usd',
    '€',
    'Dollars',
    '18-24',
    'female',
    'AB12',
    'ab12',
    '\\',
    '\\u0000',
    '"',
    '""',
    `'; drop table x; --`,
  ],
  ...['{"a":1}', '[1]', '=cmd()', 'x'.repeat(21), 'ü'.repeat(300), '👩‍👩‍👧', 'e\u0301'],
]
const cell = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true }).map(String) },
  { weight: 1, arbitrary: fc.integer().map((number) => number.toLocaleString('en-US')) },
)

const STYLES: Styles[] = [
  { decimal: 'dot', dates: 'dmy' },
  { decimal: 'comma', dates: 'mdy' },
  { decimal: 'mixed', dates: 'mixed' },
  { decimal: 'unknown', dates: 'unknown' },
]
const files: [platform: string, dataset: Dataset, rows: number, styles: Styles][] = [
  ...STYLES.map((styles): (typeof files)[number] => ['file', allTypes, cases(150, 1000), styles]),
  ['meta', ads, cases(60, 400), STYLES[0]!],
  ['google', ads, cases(60, 400), STYLES[1]!],
  ['tiktok', ads, cases(60, 400), STYLES[2]!],
]

it.each(files)(
  '%s: a line alone is judged as it is within its file',
  async (platform, dataset, count, styles) => {
    const seed = SEED
    const headers = HEADERS[platform]!
    const lines = fc.sample(fc.tuple(...headers.map(() => cell)), { numRuns: count, seed })
    const path = join(home, `${platform}.csv`)
    writeFileSync(path, [headers, ...lines].map(csvLine).join(''))
    const file = await judgeFile(dataset, platform, path, { delimiter: ',' }, styles)
    // Lines without a single value are passed over.
    expect(file.rows.length, `seed ${seed}`).toBeGreaterThan(0.95 * count)
    expect(new Set(file.rows.map(({ status }) => status)), `seed ${seed}`).toContain('invalid')
    // Every tenth alone, the others among lines that are not their neighbours: alone takes 10 ms for each.
    const groups = file.rows.flatMap((row, at) => (at % 10 === 0 ? [[row]] : []))
    const rest = file.rows.filter((_, at) => at % 10 !== 0).reverse()
    while (rest.length > 0) groups.push(rest.splice(0, 25))
    for (const group of groups) {
      const lines = group.map(({ line, status, raw, text, errors, warnings }) => ({
        ...{ line, status, raw, text, errors, warnings },
      }))
      expect(await checkedAlone(dataset, platform, file, group), `seed ${seed}`).toEqual(lines)
    }
  },
  300_000,
)

function csvLine(cells: readonly string[]): string {
  return `${cells.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')}\n`
}
