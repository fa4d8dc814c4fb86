import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'
import { textRows, workbook, zip } from './workbook.ts'

afterAll(closeDuck)

/** The texts of numeric cells, each with the format code. */
async function numbers(cells: [written: string, format?: string][], from1904 = false): Promise<string[]> {
  const formats = cells.map(([, format]) => format ?? '0.00')
  const written = cells.map(
    ([value, format], index) => `<c${format ? ` s="${index + 1}"` : ''}><v>${value}</v></c>`,
  )
  const head = textRows([cells.map((_, index) => `name ${String.fromCharCode(97 + index)}`)])
  const sheet = `${head}<row r="2">${written.join('')}</row>`
  const { rows } = await readBack(workbook({ sheets: { S: sheet }, formats, from1904 }))
  return rows[0]!.values
}

describe('A sheet', () => {
  it('is read with shared, inline and rich texts, formulas’ values, booleans and gaps between cells', async () => {
    const sheet = [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>c</t></is></c></row>',
      '<row r="3"><c r="A3" t="s"><v>2</v></c><c r="C3"><f>1+1</f><v>2</v></c></row>',
      '<row r="4"><c r="A4" t="str"><f>x</f><v>é &amp; _x0041_</v></c><c r="B4" t="b"><v>1</v></c><c r="C4" t="e"><v>#N/A</v></c></row>',
    ].join('')
    const texts = [
      '<t>a</t>',
      '<r><t>b </t></r><r><t>bold</t></r><rPh><t>aid</t></rPh>',
      '<t xml:space="preserve"> x\ny </t>',
    ]
    const file = await readBack(workbook({ sheets: { Data: sheet }, texts }))
    expect(file).toMatchObject({
      format: 'xlsx',
      headerLine: 1,
      headers: ['a', 'b bold', 'c'],
      lines: 2,
      notes: [],
    })
    expect(file.rows).toEqual([
      { line: 3, flaw: '', extra: '', values: [' x\ny ', '', '2'] },
      { line: 4, flaw: '', extra: '', values: ['é & A', 'true', '#N/A'] },
    ])
  })

  it('has dates in ISO, by the format of their cells', async () => {
    expect(
      await numbers([
        ['45351', 'dd/mm/yyyy'],
        ['45351.5', 'yyyy-mm-dd hh:mm'],
        ['0.25', 'h:mm AM/PM'],
        ['59', 'd mmm yy'],
        ['45351', '0 "days"'],
        ['45351', '[$-409]d-mmm;@'],
        ['45351', '[Red]#,##0'],
      ]),
    ).toEqual(['2024-02-29', '2024-02-29T12:00:00', '06:00:00', '1900-02-28', '45351', '2024-02-29', '45351'])
    expect(await numbers([['43889', 'yyyy-mm-dd']], true)).toEqual(['2024-02-29'])
  })

  it('has numbers as people saw them, and shares with their percent sign', async () => {
    expect(
      await numbers([
        ['5.2299999999999999E-2', '0.00%'],
        ['0.30000000000000004'],
        ['1E3'],
        ['-12.50'],
        ['0.07', '0%'],
      ]),
    ).toEqual(['5.23%', '0.3', '1000', '-12.50', '7%'])
  })

  it('never passes a number that lost its last digits for an id', async () => {
    expect(
      await numbers([['1.20253E+17'], ['120253000000000000'], ['120253000000000017'], ['123456789012345']]),
    ).toEqual(['1.20253E+17', '1.20253E+17', '120253000000000017', '123456789012345'])
  })

  it('may have title rows; a filled cell beside the header’s columns is a flaw, a missing one is not', async () => {
    const rows = textRows([['Report'], ['a', 'b'], ['1', '2'], ['3'], ['4', '5', '6']], 2)
    const file = await readBack(workbook({ sheets: { S: rows } }))
    expect(file).toMatchObject({ headerLine: 3, preamble: [{ line: 2, text: 'Report' }] })
    expect(file.rows.map((row) => [row.line, row.flaw, row.extra, ...row.values])).toEqual([
      [4, '', '', '1', '2'],
      [5, '', '', '3', ''],
      [6, 'too_many_fields', '["6"]', '4', '5'],
    ])
  })

  it('has a row of more than a mebibyte, which is cut', async () => {
    const wide = Array.from({ length: 40 }, () => 'x'.repeat(30_000))
    const names = wide.map((_, index) => `n${index}`)
    const { rows } = await readBack(workbook({ sheets: { S: textRows([names, wide, names]) } }))
    expect(rows.map((row) => [row.flaw, row.values[39]!.length])).toEqual([
      ['line_too_long', 1000],
      ['', 3],
    ])
  })

  it('is the first visible one with data, unless it is named', async () => {
    const sheets = {
      Hidden: textRows([['h'], ['1']]),
      Empty: '',
      A: textRows([['a'], ['2']]),
      B: textRows([['b'], ['3']]),
    }
    const bytes = workbook({ sheets, hidden: ['Hidden'] })
    const first = await readBack(bytes)
    expect(first).toMatchObject({ headers: ['a'], notes: [{ rule: 'file.other_sheets', count: 3 }] })
    expect(await readBack(bytes, { sheet: 'B' })).toMatchObject({ headers: ['b'], notes: [] })
    await expect(readBack(bytes, { sheet: 'C' })).rejects.toMatchObject({
      code: 'file_unreadable',
      details: { reason: 'it has no sheet “C”; it has “Hidden”, “Empty”, “A”, “B”' },
    })
  })

  it('of many rows is split into chunks and held to the limit', async () => {
    const rows = Array.from({ length: 3000 }, (_, index) => [String(index), 'x'])
    const bytes = workbook({ sheets: { S: textRows([['n', 't'], ...rows]) } })
    const file = await readBack(bytes, { chunkLines: 1000 })
    expect(file.chunks).toHaveLength(3)
    expect(file.rows.map((row) => row.values[0])).toEqual(rows.map(([number]) => number))
    await expect(readBack(bytes, { maxLines: 2999 })).rejects.toMatchObject({ code: 'upload_too_many_lines' })
  })
})

describe('Cells at the far end of a sheet', () => {
  const sheet = (cell: string, rows: number) =>
    `${textRows([
      ['a', 'b'],
      ['1', '2'],
    ])}${Array.from({ length: rows }, (_, at) => `<row r="${at + 3}">${cell}</row>`).join('')}`

  it('that are empty take no room: a small workbook is read in little memory', async () => {
    const bytes = workbook({ sheets: { S: sheet('<c r="XFD1" s="0"/>', 40_000) } })
    expect(bytes.length).toBeLessThan(150_000)
    const before = process.memoryUsage().rss
    let most = before
    const file = await readBack(bytes, {
      onProgress: () => {
        most = Math.max(most, process.memoryUsage().rss)
      },
    })
    most = Math.max(most, process.memoryUsage().rss)
    expect(file.rows.map(({ values }) => values)).toEqual([['1', '2']])
    // Each row was 16,384 wide: 800 MB more.
    expect((most - before) / 1e6).toBeLessThan(300)
  })

  it('that are filled are a flaw of their row, without the gap before them', async () => {
    const { rows } = await readBack(
      workbook({ sheets: { S: sheet('<c r="A3"><v>7</v></c><c r="XFD3"><v>8</v></c>', 3) } }),
      { knowsHeader: (name) => ['a', 'b'].includes(name) },
    )
    expect(rows.slice(1).map(({ flaw, extra, values }) => [flaw, extra, ...values])).toEqual(
      Array.from({ length: 3 }, () => ['too_many_fields', '["8"]', '7', '']),
    )
  })
})

describe('What is no workbook', () => {
  it.each([
    ['2 files', zip({ 'a.csv': 'a,b\n1,2\n', 'b.csv': 'a,b\n1,2\n' })],
    ['damaged', workbook({ sheets: { S: textRows([['a'], ['1']]) } }).subarray(0, 400)],
    ['damaged', workbook({ sheets: { S: '<row><c></row>' } })],
  ])('is refused as %s', async (words, bytes) => {
    const error = await readBack(bytes).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_unreadable' })
    expect((error as { details: { reason: string } }).details.reason).toContain(words)
  })

  it('has a header and nothing below it', async () => {
    await expect(readBack(workbook({ sheets: { S: textRows([['a', 'b']]) } }))).rejects.toMatchObject({
      code: 'file_has_no_rows',
    })
  })
})

describe('A cell without a value of its own', () => {
  it('is an error of its line where a formula has no stored value', async () => {
    const { rows } = await readBack(
      workbook({
        sheets: {
          One: `${textRows([['name', 'n']])}<row r="2"><c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2"><f>1+1</f></c></row><row r="3"><c r="A3" t="inlineStr"><is><t>Bob</t></is></c><c r="B3"><f>1+1</f><v>2</v></c></row><row r="4"><c r="B4" t="str"><f>A1</f></c></row>`,
        },
      }),
    )
    expect(rows.map((row) => [row.line, row.flaw, row.extra, ...row.values])).toEqual([
      [2, 'formula_without_value', '["B2"]', 'Ann', ''],
      [3, '', '', 'Bob', '2'],
      [4, 'formula_without_value', '["B4"]', '', ''],
    ])
  })

  it('has the value of its merged area, unless that is a number: then its lines are flagged', async () => {
    const rows = [
      ['Report', '', ''],
      ['campaign', 'ad', 'cost'],
      ['Brand', 'a', '5'],
      ['', 'b', '6'],
      ['Other', 'c', '7'],
      ['Other', 'd', ''],
      ['Wide', '', '8'],
    ]
    const file = await readBack(
      workbook({ sheets: { One: textRows(rows) }, merged: ['A1:C1', 'A3:A4', 'C5:C6', 'A7:B7'] }),
    )
    expect(file.headers).toEqual(['campaign', 'ad', 'cost'])
    expect(file.rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
      [3, '', 'Brand', 'a', '5'],
      [4, '', 'Brand', 'b', '6'],
      [5, 'merged_number', 'Other', 'c', '7'],
      [6, 'merged_number', 'Other', 'd', '7'],
      [7, '', 'Wide', 'Wide', '8'],
    ])
    expect(file.notes).toMatchObject([{ rule: 'file.merged_cells', line: 4, count: 3 }])
  })
})
