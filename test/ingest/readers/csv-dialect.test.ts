import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

describe('The delimiter is found', () => {
  it.each([
    [',', 'name,cost\nAnn,1\nBob,2\n'],
    [';', 'name;cost;share\nAnn;1,5;2,5\nBob;2,0;3,5\n'],
    [';', 'cost;share\n1,5;2,5\n2,0;3,5\n'],
    [';', 'name;cost\n"a,b,c";1\n"d,e,f";2\n'],
    ['\t', 'name\tcost\nAnn, the first\t1,5\nBob; x\t2\n'],
    ['|', 'name|cost\nAnn|1\nBob|2\n'],
    [
      ',',
      'campaign,cost,clicks,date\nVN | Brand | a,1,2,2024-01-01\nVN | Brand | b,3,4\nVN | Brand | c,3,4,x\n',
    ],
  ])('as %j', async (delimiter, content) => {
    expect(await readBack(content)).toMatchObject({ delimiter, headerLine: 1 })
  })

  it('in Excel’s own first line, which is no record and no preamble', async () => {
    const file = await readBack('sep=;\r\na,b;c\r\n1,5;2\r\n')
    expect(file).toMatchObject({ delimiter: ';', headerLine: 2, headers: ['a,b', 'c'], preamble: [] })
    expect(file.rows).toEqual([{ line: 3, flaw: '', extra: '', values: ['1,5', '2'] }])
  })

  it('unless it is given, as one ASCII character', async () => {
    await expect(readBack('a,b\n1,2\n', { delimiter: '::' })).rejects.toMatchObject({
      code: 'argument_invalid',
    })
    expect(await readBack('a,b\n1,2\n', { delimiter: ';' })).toMatchObject({ headers: ['a,b'] })
  })
})

describe('The header is found', () => {
  const google = [
    'Campaign report',
    '"January 1, 2024 - January 31, 2024"',
    '',
    'Campaign,Cost,Day',
    'Total,9,--',
    'Brand,9,2024-01-01',
  ].join('\n')

  it('under title and date lines, which are kept and are no flaw', async () => {
    const file = await readBack(google)
    expect(file.headers).toEqual(['Campaign', 'Cost', 'Day'])
    expect(file.headerLine).toBe(4)
    expect(file.preamble).toEqual([
      { line: 1, text: 'Campaign report' },
      { line: 2, text: '"January 1, 2024 - January 31, 2024"' },
    ])
    expect(file.rows.map((row) => [row.line, row.flaw])).toEqual([
      [5, ''],
      [6, ''],
    ])
  })

  it('by the names that the dataset knows, before anything else', async () => {
    const content = 'made by,Ann\nfor,Bob\nImpressions 2024,Day\n1,2024-01-01\n'
    const knowsHeader = (name: string) => ['Impressions 2024', 'Day'].includes(name)
    expect(await readBack(content, { knowsHeader })).toMatchObject({ headerLine: 3, lines: 1 })
  })

  it('though it is wider than every row', async () => {
    const { headers, rows } = await readBack('a,b,c\n1,2\n3,4\n')
    expect(headers).toEqual(['a', 'b', 'c'])
    expect(rows.map((row) => row.flaw)).toEqual(['too_few_fields', 'too_few_fields'])
  })

  it('and its names are trimmed, kept when they repeat, and made up when empty', async () => {
    const { headers } = await readBack(' a ,,a,"b ""c"""\n1,2,3,4\n')
    expect(headers).toEqual(['a', 'Column 2', 'a', 'b "c"'])
  })

  it('and one of thousands of columns is refused', async () => {
    await expect(readBack(`${'a,'.repeat(2000)}a\n1,2\n`)).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  it('and without a row below it the file is refused', async () => {
    await expect(readBack('a,b\n')).rejects.toMatchObject({ code: 'file_has_no_rows' })
    await expect(readBack('a,b\n\n,\n')).rejects.toMatchObject({ code: 'file_has_no_rows' })
  })
})
