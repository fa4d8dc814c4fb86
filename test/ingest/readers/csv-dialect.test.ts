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

describe('A line that another delimiter would cut as well', () => {
  const file = (delimiter: string, odd: readonly string[]) =>
    ['code%rate', ...odd, ...Array.from({ length: 18 }, (_, at) => `R${at + 3}%${at + 3}`), '']
      .join('\n')
      .replaceAll('%', delimiter)

  it.each([
    ['one decimal comma', ['R1;1,5', 'R2;2']],
    ['two decimal commas', ['R1;1,5', 'R2;2,5']],
    ['a key that looks like a year', ['2024;1,5', 'R2;2']],
  ])('is read as the file’s delimiter cuts it: %s', async (_, odd) => {
    const { rows, delimiter } = await readBack(file(';', odd))
    expect(delimiter).toBe(';')
    expect(rows.filter(({ flaw }) => flaw)).toEqual([])
    expect(rows.slice(0, 2).map(({ values }) => values.join(';'))).toEqual(odd)
  })

  it('is flagged where the file’s delimiter would be a decimal comma', async () => {
    const { rows } = await readBack(file(',', ['R1;1,5', 'R2,2']))
    expect(rows.filter(({ flaw }) => flaw)).toMatchObject([{ line: 2, flaw: 'other_delimiter' }])
  })

  it('is flagged where the file’s delimiter leaves no number', async () => {
    const { rows } = await readBack(file(',', ['R1,1', 'Smith,Ann;5']))
    expect(rows.filter(({ flaw }) => flaw)).toMatchObject([{ line: 3, flaw: 'other_delimiter' }])
  })
})

describe('Quotes are found', () => {
  it('behind a blank, which belongs to no value', async () => {
    const { rows, notes } = await readBack('name, note,n\nAnn, "b, c",1\nBob,  "say ""hi""" ,2\n')
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['', 'Ann', 'b, c', '1'],
      ['', 'Bob', 'say "hi"', '2'],
    ])
    expect(notes).toMatchObject([{ rule: 'file.spaced_quotes', count: 2, line: 2 }])
  })

  it('as apostrophes, where a whole column stands in them', async () => {
    const content = "name,note,n\nAnn,'b, it''s',1\nBob's,'c',2\n"
    const { rows, notes } = await readBack(content)
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['', 'Ann', "b, it's", '1'],
      ['', "Bob's", 'c', '2'],
    ])
    expect(notes).toMatchObject([{ rule: 'file.quote_character' }])
  })

  it('with a backslash before those inside, where every line fits then', async () => {
    const { rows } = await readBack('name,note\n"Ann","say \\"hi\\", she"\n"Bob","c\\\\d"\n')
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['', 'Ann', 'say "hi", she'],
      ['', 'Bob', 'c\\d'],
    ])
  })

  it('and one that opened in an earlier value is no text, though the number of fields is right', async () => {
    const { rows } = await readBack('a,b,c\n1,x,"y, z"\n2"x, y",z\n3,x,y\n')
    expect(rows.map((row) => row.flaw)).toEqual(['', 'stray_quote', ''])
    const bare = await readBack('a,b,c\n1,x,y\n2,u"x, y"\n3,TV 5" wide,y\n')
    expect(bare.rows.map((row) => row.flaw)).toEqual(['', 'stray_quote', ''])
  })

  it('far below the first lines: what was text before it is flagged, too', async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `${index},x`)
    lines[210] = '210,say "hi" twice'
    const text = await readBack(`id,note\n${lines.join('\n')}\n`)
    expect(text.rows.filter((row) => row.flaw)).toEqual([])
    expect(text.notes).toMatchObject([{ rule: 'file.quotes_as_text', line: 212, count: 1 }])
    lines[390] = '390,"a, b"'
    const quoted = await readBack(`id,note\n${lines.join('\n')}\n`)
    expect(quoted.rows.filter((row) => row.flaw).map((row) => row.line)).toEqual([212])
  })
})

describe('A file without a header', () => {
  const content = '2026-01-01,Ann,1\n2026-01-02,Bob,2\n'

  it('is recognised and refused, with its first values', async () => {
    const error = await readBack(content).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_has_no_header', details: { line: 1, columns: 3 } })
    expect((error as Error).message).toContain('“2026-01-01”, “Ann”')
  })

  it('is recognised among texts by values that stand again in their column', async () => {
    const texts = 'Ann,Rome,fine\nBob,Oslo,fine\nCid,Rome,late\n'
    await expect(readBack(texts)).rejects.toMatchObject({ code: 'file_has_no_header' })
    const named = `name,city,state\n${texts}`
    expect(await readBack(`${named}${named}`)).toMatchObject({ headers: ['name', 'city', 'state'] })
  })

  it('is read with names that are given, all of its lines', async () => {
    const file = await readBack(content, { columns: ['Day', 'Name', 'Cost'] })
    expect(file).toMatchObject({ headers: ['Day', 'Name', 'Cost'], headerLine: 0, lines: 2 })
    expect(file.rows[0]).toMatchObject({ line: 1, values: ['2026-01-01', 'Ann', '1'] })
    await expect(readBack(content, { columns: ['Day'] })).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('has one all the same where a year is the name of a column of amounts', async () => {
    expect(await readBack('name,2025,2026\na,100,7\nb,3,200\n')).toMatchObject({
      headers: ['name', '2025', '2026'],
    })
  })
})

describe('A header one name short', () => {
  it.each([
    ['because of row labels', 'name,cost\n1,Ann,5\n2,Bob,6\n'],
    ['while lines end with a delimiter', 'name,costday\nAnn,5,\nBob,6,\n'],
  ])('%s is refused: every value would stand under a wrong name', async (_, content) => {
    const error = await readBack(content).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_unreadable' })
    expect((error as Error).message).toContain('has 2 names, and its lines have 3 fields')
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
