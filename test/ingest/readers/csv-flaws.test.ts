import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

const MIB = 1024 * 1024

describe('A record that is not as it should be is kept, with its line and what is wrong', () => {
  it('has too many fields, and shows them', async () => {
    const { rows } = await readBack('a,b\n1,2\n3,4,5,"6,7"\n8,9\n')
    expect(rows).toEqual([
      { line: 2, flaw: '', extra: '', values: ['1', '2'] },
      { line: 3, flaw: 'too_many_fields', extra: '["5","6,7"]', values: ['3', '4'] },
      { line: 4, flaw: '', extra: '', values: ['8', '9'] },
    ])
  })

  it('has too few fields; the missing ones are empty', async () => {
    const { rows } = await readBack('a,b,c\n1,2,3\n4\n5,6,7\n')
    expect(rows[1]).toEqual({ line: 3, flaw: 'too_few_fields', extra: '', values: ['4', '', ''] })
    expect(rows).toHaveLength(3)
  })

  it('has one empty field too many while its neighbours have not: its values may have moved', async () => {
    const { rows } = await readBack('name,cost,note\nAnn,1,x\nSmith, John,5,\nBob,2,y\n')
    expect(rows.map((row) => row.flaw)).toEqual(['', 'too_many_fields', ''])
  })

  it('has a quote that nobody closes: only that line is flawed, in the middle and at the end', async () => {
    const lines = Array.from({ length: 150 }, (_, index) => `${index},x`)
    lines[3] = '3,"open'
    lines[149] = '149,"open'
    const { rows } = await readBack(`id,note\n${lines.join('\n')}\n`)
    expect(rows).toHaveLength(150)
    expect(rows[3]).toEqual({ line: 5, flaw: 'unterminated_quote', extra: '', values: ['3', '"open'] })
    expect(rows[149]).toEqual({ line: 151, flaw: 'unterminated_quote', extra: '', values: ['149', '"open'] })
    expect(rows.filter((row) => row.flaw)).toHaveLength(2)
  })

  it('has a quote that only the next line’s quote would close: both lines stay apart', async () => {
    const { rows } = await readBack('id,note\n1,"open\n2,"closed"\n3,x\n')
    expect(rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
      [2, 'unterminated_quote', '1', '"open'],
      [3, '', '2', 'closed'],
      [4, '', '3', 'x'],
    ])
  })

  it('has an unclosed quote and more than a mebibyte behind it', async () => {
    const long = 'x'.repeat(50_000)
    const lines = Array.from({ length: 60 }, (_, index) => `${index},${long}`)
    lines[10] = '10,"open'
    const { rows } = await readBack(`id,note\n${lines.join('\n')}\n`)
    expect(rows.map((row) => row.line)).toEqual(lines.map((_, index) => index + 2))
    expect(rows.filter((row) => row.flaw).map((row) => [row.line, row.flaw])).toEqual([
      [12, 'unterminated_quote'],
    ])
  })

  it('goes on behind a closing quote', async () => {
    const { rows } = await readBack('id,note,n\n1,"5" screen",2\n2,"ok",3\n')
    expect(rows[0]).toEqual({ line: 2, flaw: 'stray_quote', extra: '', values: ['1', '"5" screen"', '2'] })
    expect(rows[1]).toEqual({ line: 3, flaw: '', extra: '', values: ['2', 'ok', '3'] })
  })

  it('has bytes that are not UTF-8: they show as U+FFFD and the file says so once', async () => {
    const bytes = Buffer.concat([
      Buffer.from('name,n\nJos'),
      Buffer.from([0xe9]),
      Buffer.from(',1\nZoë,2\n'),
      Buffer.from([0x80, 0x2c, 0x33, 0x0a]),
    ])
    const { rows, notes } = await readBack(bytes)
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['invalid_utf8', 'Jos\ufffd', '1'],
      ['', 'Zoë', '2'],
      ['invalid_utf8', '\ufffd', '3'],
    ])
    expect(notes).toMatchObject([{ rule: 'file.encoding', count: 2 }])
  })

  it('has a NUL, in a bare field and in a quoted one', async () => {
    const { rows } = await readBack('name,n\na\0b,1\n"c\0",2\nd,3\n')
    expect(rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
      [2, 'nul_character', 'ab', '1'],
      [3, 'nul_character', 'c', '2'],
      [4, '', 'd', '3'],
    ])
  })

  it('is longer than a mebibyte: it is cut, and the next line is read as ever', async () => {
    const long = `${'v'.repeat(2000)},${'w'.repeat(3 * MIB)}`
    const { rows } = await readBack(`a,b\n1,2\n${long}\r\n3,4\n`)
    expect(rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
      [2, '', '1', '2'],
      [3, 'line_too_long', 'v'.repeat(1000), 'w'.repeat(1000)],
      [4, '', '3', '4'],
    ])
  })

  it('is just under a mebibyte: it is whole, quotes and all', async () => {
    const text = '"'.repeat(MIB - 10)
    const { rows } = await readBack(`a,b\n1,x${text}\n2,y\n`)
    expect(rows.map((row) => [row.flaw, row.values[1]!.length])).toEqual([
      ['', MIB - 9],
      ['', 1],
    ])
  })

  it('is judged the same wherever the buffers end', async () => {
    const content = `a,b\n1,2\n${'x'.repeat(MIB - 3)},1\n${'y'.repeat(MIB - 2)},1\n"${'z\n'.repeat(3)}${'z'.repeat(MIB)}",1\n5,6\n`
    const verdicts = async (bufferBytes: number) =>
      (await readBack(content, { bufferBytes })).rows.map((row) => [row.line, row.flaw])
    const expected = await verdicts(4 * MIB)
    expect(expected.slice(0, 4)).toEqual([
      [2, ''],
      [3, ''],
      [4, 'line_too_long'],
      [5, 'unterminated_quote'],
    ])
    expect(await verdicts(100_003)).toEqual(expected)
    expect(await verdicts(256 * 1024)).toEqual(expected)
  })
})

describe('A line below the header', () => {
  it('that has the texts of the header repeats it, wherever it stands, and no other does', async () => {
    const { rows } = await readBack('sku,qty\nsku,qty\nA,1\nSku,qty\nB,2\nsku,qty\nC,3\nD,4\n')
    expect(rows.flatMap(({ line, flaw }) => (flaw === 'repeated_header' ? [line] : []))).toEqual([2, 6])
  })

  it('with one wrong number is data, and a note says what it looks like', async () => {
    const { rows, notes } = await readBack('sku,qty\nA-1,abc\nA-2,2\nA-3,3\n')
    expect(rows[0]).toEqual({ line: 2, flaw: '', extra: '', values: ['A-1', 'abc'] })
    expect(notes).toMatchObject([{ rule: 'file.text_below_header', line: 2 }])
    expect((await readBack('sku,qty\nA-1,1\nA-2,abc\nA-3,3\n')).notes).toEqual([])
  })

  it('with text in several columns of numbers goes on with it, and is told so', async () => {
    const { rows } = await readBack('sku,qty,price\n,pieces,EUR\nA-1,1,2.50\nA-2,3,4.50\n')
    expect(rows.map(({ line, flaw }) => [line, flaw])).toEqual([
      [2, 'continued_header'],
      [3, ''],
      [4, ''],
    ])
  })

  it('with no name where a note looks for one is data', async () => {
    const { rows, notes } = await readBack('sku,qty,price\nA-1,abc,2.50\nA-2,1,2.50\nA-3,3,4.50\n')
    expect(rows.map(({ flaw }) => flaw)).toEqual(['', '', ''])
    expect(notes).toEqual([])
  })
})
