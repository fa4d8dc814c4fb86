// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ads } from '../../../src/ingest/packs.ts'
import { cases } from '../../support/length.ts'
import { type Judged, judge } from './judge.ts'

const HEADERS = [
  'Campaign ID',
  'Campaign name',
  'Day',
  'Delivery status',
  'Impressions',
  'Link clicks',
  'Amount spent (AUD)',
]
const cell = fc.oneof(
  fc.constantFrom(
    '',
    '--',
    'Total',
    'x"y',
    '1,234',
    '12,50',
    '$5',
    '< 10%',
    '12 %',
    '1.2E+17',
    '2024-01-31',
    '01/02/2024',
    '2024-02-30',
    'active',
    '7',
    '-3',
    '\ufffd',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

it('one line alone is judged as it is within its file', async () => {
  const styles = { decimal: 'dot', dates: 'unknown' } as const
  const verdict = ({ status, errors, warnings, text }: Judged) => ({
    status,
    text,
    problems: [...errors, ...warnings].map(({ line: _, ...problem }) => problem),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(...HEADERS.map(() => cell)), { minLength: 2, maxLength: 8 }),
      async (lines) => {
        const together = await judge(ads, HEADERS, lines, { styles })
        for (const [index, line] of lines.entries()) {
          const [alone] = await judge(ads, HEADERS, [line], { styles })
          expect(verdict(alone!)).toEqual(verdict(together[index]!))
        }
      },
    ),
    { numRuns: cases(3, 15) },
  )
})
