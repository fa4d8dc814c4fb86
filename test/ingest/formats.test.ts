/** Files of every shape through the whole of reading and checking: workbooks, wide files, the example. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { orders } from '../../examples/orders/dataset.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { ads } from '../../src/ingest/packs.ts'
import { writeOrders } from '../support/exports.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { checkedAlone } from './datasets/checked-alone.ts'
import { judgeFile } from './datasets/judge-file.ts'
import { textRows, workbook } from './readers/workbook.ts'

const home = temporaryHome('formats')
afterAll(closeDuck)

const KNOWN = ['Campaign ID', 'Campaign name', 'Day', 'Impressions', 'Amount spent (USD)', 'Delivery status']

it('a workbook with a merged title, several sheets and every kind of cell is judged like a CSV', async () => {
  const title = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"/><c r="C1" s="1"/><c r="D1"/></row>'
  const header = textRows(
    [['Campaign ID', 'Campaign name', 'Day', 'Impressions', 'Cost', 'CTR', 'Paused']],
    3,
  )
  const row = [
    '<row r="4"><c r="A4" t="inlineStr"><is><t>1790000000000000001</t></is></c><c r="B4" t="s"><v>1</v></c>',
    '<c r="C4" s="1"><v>46266</v></c><c r="D4"><v>1234</v></c><c r="E4" s="2"><v>12.5</v></c>',
    '<c r="F4" s="3"><v>0.0125</v></c><c r="G4" t="b"><v>0</v></c></row>',
    '<row r="6"><c r="A6"><v>1.79E+18</v></c><c r="B6" t="s"><v>1</v></c><c r="C6" s="1"><v>46267</v></c></row>',
    '<row r="7"><c r="A7" t="inlineStr"><is><t>17_x0000_9</t></is></c><c r="B7" t="s"><v>1</v></c><c r="C7" s="1"><v>46267</v></c></row>',
  ].join('')
  const bytes = workbook({
    sheets: { Notes: '', Daily: `${title}${header}${row}`, Other: textRows([['a', 'b']]) },
    texts: ['<t>Report of September</t>', '<t>Launch</t>'],
    formats: ['dd.mm.yyyy', '#,##0.00 "USD"', '0.00%'],
  })
  const path = join(home, 'report.xlsx')
  writeFileSync(path, bytes)
  const { file, rows } = await judgeFile(ads, 'tiktok', path)
  expect(file).toMatchObject({
    format: 'xlsx',
    headerLine: 3,
    lines: 3,
    preamble: [{ line: 1, text: 'Report of September' }],
  })
  expect(file.notes).toMatchObject([
    { rule: 'file.other_sheets', message: expect.stringContaining('“Other”') },
  ])
  expect(rows.map(({ line, rules }) => [line, ...rules])).toEqual([
    [4],
    [6, 'id.not_scientific'],
    [7, 'structure.nul_character'],
  ])
  expect(rows[0]).toMatchObject({
    raw: { CTR: '1.25%', Paused: 'false', Cost: '12.5' },
    values: { campaign_id: '1790000000000000001', date: '2026-09-01', impressions: 1234, spend: 12.5 },
  })
})

it('a file of 500 columns needs no more memory than others, and a line of it can be repaired', {
  tags: 'long',
}, async () => {
  const extra = Array.from({ length: 494 }, (_, at) =>
    at === 7 ? 'Say "extra"' : at === 9 ? 'Extra 8' : `Extra ${at}`,
  )
  const path = join(home, 'wide.csv')
  writeFileSync(path, `${[...KNOWN, ...extra].map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`)
  for (let line = 0; line < 6_000; line++) {
    const spend = line === 41 ? 'oops' : '12.50'
    const cells = extra.map((_, at) => (at === 8 ? '"say ""hi"" \\\n"' : `value ${line + at}`))
    appendFileSync(path, `12021123456789${line},Always on,2026-09-01,7,${spend},active,${cells.join(',')}\n`)
  }
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  const file = await judgeFile(ads, 'meta', path)
  clearInterval(watch)

  expect(file.rows).toHaveLength(6_000)
  // DuckDB may take 128 MB; the rows that the test holds are counted too.
  expect((most - before) / 1e6).toBeLessThan(400)
  const wrong = file.rows.filter(({ status }) => status !== 'valid')
  expect(wrong.map(({ rules }) => rules)).toEqual([['number.invalid']])
  const { raw } = wrong[0]!
  expect(Object.keys(raw)).toHaveLength(500)
  expect(raw).toMatchObject({
    'Say "extra"': 'value 48',
    'Extra 8': 'say "hi" \\\n',
    'Extra 8 (2)': 'value 50',
    'Amount spent (USD)': 'oops',
  })
  const [repaired] = await checkedAlone(ads, 'meta', file, [
    { line: wrong[0]!.line, raw: { ...raw, 'Amount spent (USD)': '12.60' } },
  ])
  expect(repaired).toMatchObject({ status: 'valid', raw: { ...raw, 'Amount spent (USD)': '12.60' } })
  expect(repaired!.text).toContain('"spend":12.60')
})

it('characters that nothing can store are errors of the line when someone types them, not left out', async () => {
  const path = join(home, 'typed.csv')
  writeFileSync(path, `${KNOWN.join(',')}\n1,Always on,2026-09-01,7,1.50,active\n`)
  const file = await judgeFile(ads, 'meta', path)
  const typed = async (name: string) => {
    const raw = { ...file.rows[0]!.raw, 'Campaign name': name }
    const [line] = await checkedAlone(ads, 'meta', file, [{ line: 2, raw }])
    return { status: line!.status, rule: line!.errors[0]?.rule, shown: line!.raw['Campaign name'] }
  }
  expect(await typed('Al\0ways')).toEqual({
    status: 'invalid',
    rule: 'structure.nul_character',
    shown: 'Always',
  })
  expect(await typed('x\ud800y')).toEqual({
    status: 'invalid',
    rule: 'structure.invalid_utf8',
    shown: 'x\ufffdy',
  })
  expect(await typed('😀 \\u0000')).toEqual({ status: 'valid', rule: undefined, shown: '😀 \\u0000' })
})

const example = (name: string) => fileURLToPath(new URL(`../../examples/orders/${name}`, import.meta.url))

it('the example’s declarations are one, and its file has the problems that its README names', async () => {
  expect(JSON.parse(readFileSync(example('dataset.json'), 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(orders)),
  )
  const { rows, map } = await judgeFile(orders, 'file', example('orders.csv'))
  expect(rows.flatMap(({ line, errors }) => errors.map(({ column, rule }) => [line, column, rule]))).toEqual([
    [8, 'Qty', 'number.min'],
  ])
  expect(rows.flatMap(({ line, warnings }) => warnings.map(({ column }) => [line, column]))).toEqual([
    [10, 'E-mail'],
  ])
  expect(map.unknown).toEqual([])
})

it('generated orders are known to the example’s dataset, but for a column of no field', async () => {
  const path = join(home, 'orders.csv')
  const { planted } = writeOrders(path, { lines: 20, seed: 7, badLines: { fraction: 1, impossible_date: 1 } })
  const { rows, map } = await judgeFile(orders, 'file', path)
  expect(rows.filter(({ status }) => status === 'valid')).toHaveLength(18)
  expect(rows.flatMap(({ line, errors }) => errors.map(({ column, rule }) => [line, column, rule]))).toEqual(
    planted.map(({ line, header, rule }) => [line, header, rule]),
  )
  expect(map.unknown.map(({ header }) => header)).toEqual(['Product'])
  expect(rows.flatMap(({ warnings }) => warnings)).toEqual([])
})
