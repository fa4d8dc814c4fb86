/** Control totals on the command line: what sums up other lines is said apart, and nothing of it looks lost. */
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { controlTable } from '../../../src/cli/upload-totals.ts'
import type { ControlTotal } from '../../../src/ingest/uploads.ts'

const SPEND: ControlTotal = {
  measure: 'spend',
  title: 'Spend',
  column: 'spend',
  currency: 'EUR',
  read: '3389.19',
  valid: '3389.19',
  left_out: '0',
  refused: '0',
  totals_lines: '6778.38',
  reasons: { 'row.total': '3389.19', 'row.sum': '3389.19' },
  unread: 0,
}

const said = (...control: ControlTotal[]) => stripVTControlCharacters(controlTable(control))

it('says the figures of lines that sum up others below the table', () => {
  expect(said(SPEND)).toMatch(/Spend EUR +3,389\.19 +3,389\.19 +– +–/)
  expect(said(SPEND)).toContain('Totals lines, not counted: Spend EUR 3,389.19')
  expect(said(SPEND)).toContain('Lines that are the sum of others, not counted: Spend EUR 3,389.19')
})

it('has no row for a totals line without a currency, only its figure', () => {
  const nothing = { read: '0', valid: '0', reasons: { 'row.total': '5' }, totals_lines: '5' }
  const text = said({ ...SPEND, reasons: {}, totals_lines: '0' }, { ...SPEND, ...nothing, currency: null })
  expect(text.match(/^ {2}Spend/gm)).toHaveLength(1)
  expect(text).toContain('Totals lines, not counted: Spend 5')
})

it('of plans from before leaves the figures where they were counted', () => {
  const { totals_lines: _, ...old } = { ...SPEND, read: '6778.38', left_out: '3389.19' }
  expect(said(old)).toMatch(/6,778\.38 +3,389\.19 +3,389\.19/)
  expect(said(old)).not.toContain('not counted')
})
