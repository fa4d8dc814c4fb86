import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

describe('JSON lines', () => {
  it('become columns: nested objects by dotted names, arrays as JSON, every value as it was written', async () => {
    const file = await readBack(
      [
        '{"id": 120253000000000001, "metrics": {"costMicros": "15", "rate": 0.10}, "tags": ["a", {"b": 1.0}]}',
        '',
        '{"late": true, "id": 1.20253E+17, "metrics": {"costMicros": null}, "text": "x\\n\\"y\\" é"}',
      ].join('\r\n'),
    )
    expect(file).toMatchObject({ format: 'jsonl', encoding: 'UTF-8', delimiter: null, lines: 2 })
    expect(file.headers).toEqual(['id', 'metrics.costMicros', 'metrics.rate', 'tags', 'late', 'text'])
    expect(file.rows).toEqual([
      {
        line: 1,
        flaw: '',
        extra: '',
        values: ['120253000000000001', '15', '0.10', '["a", {"b": 1.0}]', '', ''],
      },
      { line: 3, flaw: '', extra: '', values: ['1.20253E+17', '', '', '', 'true', 'x\n"y" é'] },
    ])
  })

  it('that are broken are flawed, one by one', async () => {
    const { rows } = await readBack(
      '{"a":1}\n{"a":\n{"a":01}\n[1]\n{"a":"x\\u0000"}\n{"a":"\\ud83d"}\n{"a":2} x\n{"a":3}',
    )
    expect(rows.map((row) => [row.line, row.flaw, row.extra, ...row.values])).toEqual([
      [1, '', '', '1'],
      [2, 'not_json', '["{\\"a\\":"]', ''],
      [3, 'not_json', '["{\\"a\\":01}"]', ''],
      [4, 'not_json', '["[1]"]', ''],
      [5, 'nul_character', '', 'x'],
      [6, 'invalid_utf8', '', '\ufffd'],
      [7, 'not_json', '["{\\"a\\":2} x"]', ''],
      [8, '', '', '3'],
    ])
  })

  it('longer than a mebibyte are cut', async () => {
    const { rows } = await readBack(`{"a":1}\n{"a":"${'x'.repeat(3 * 1024 * 1024)}"}\n{"a":2}\n`)
    expect(rows.map((row) => [row.line, row.flaw, row.extra.length < 1100, ...row.values])).toEqual([
      [1, '', true, '1'],
      [2, 'line_too_long', true, ''],
      [3, '', true, '2'],
    ])
  })

  it('may be UTF-16', async () => {
    const file = await readBack(Buffer.from('\ufeff{"a":"ế"}\n', 'utf16le'))
    expect(file).toMatchObject({ format: 'jsonl', encoding: 'UTF-16LE with BOM' })
    expect(file.rows[0]!.values).toEqual(['ế'])
  })
})

describe('JSON arrays', () => {
  const content = '[\n  {"a": 1, "b": {"c": "]},{"}},\r\n  {"a": "x\\"",\n   "d": []}\n, 7, {"a": 2}]\n'

  it('are read element by element, wherever the buffers end', async () => {
    for (const bufferBytes of [1, 2, 7, 4096]) {
      const file = await readBack(content, { bufferBytes })
      expect(file).toMatchObject({ format: 'json', headers: ['a', 'b.c', 'd'], lines: 4, notes: [] })
      expect(file.rows.map((row) => [row.line, row.flaw, row.extra, ...row.values])).toEqual([
        [2, '', '', '1', ']},{', ''],
        [3, '', '', 'x"', '', '[]'],
        [5, 'not_json', '["7"]', '', '', ''],
        [6, '', '', '2', '', ''],
      ])
    }
  })

  it('that are cut off are refused: nobody knows how much is missing', async () => {
    await expect(readBack('[{"a":1},{"a":2},{"a"')).rejects.toMatchObject({
      code: 'file_unreadable',
      message: expect.stringContaining('cut off'),
    })
    await expect(readBack('[{"a":1},{"a":2}')).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  it('without an element, or with none that is an object, are refused', async () => {
    await expect(readBack('[]')).rejects.toMatchObject({ code: 'file_has_no_rows' })
    await expect(readBack('[{"a":1]')).rejects.toMatchObject({ code: 'file_unreadable' })
  })

  it('of more elements than allowed are refused', async () => {
    await expect(readBack('[{"a":1},{"a":2}]', { maxLines: 1 })).rejects.toMatchObject({
      code: 'upload_too_many_lines',
    })
  })
})

describe('answers of an API', () => {
  const page =
    '{"code":0,"request_id":"x]\\"[",\n "data":[{"a":"1"},\n{"a":"2","b":[{"c":1}]}],"paging":{"cursors":{"after":"x"}}}\n'

  it('are read as the records in their envelope, wherever the buffers end', async () => {
    for (const bufferBytes of [1, 3, 4096]) {
      const file = await readBack(page, { bufferBytes })
      expect(file).toMatchObject({ format: 'json', headers: ['a', 'b'], lines: 2, notes: [] })
      expect(file.rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
        [2, '', '1', ''],
        [3, '', '2', '[{"c":1}]'],
      ])
    }
    for (const text of [
      '{"results":[{"a":"1"}],"fieldMask":"a"}',
      '{"code":0,"data":{"page_info":{"page":1},"list":[{"a":"1"}]}}',
      '{"paging":{"next":null},"data":[{"a":"1"}]}',
    ]) {
      expect((await readBack(text)).rows.map(({ values }) => values)).toEqual([['1']])
    }
  })

  it('that are one page of several say so', async () => {
    for (const more of ['"paging":{"next":"https://example.com/2"}', '"nextPageToken":"CJ"'])
      expect((await readBack(`{"data":[{"a":1}],${more}}`)).notes).toMatchObject([{ rule: 'file.one_page' }])
    expect((await readBack('{"data":[{"a":1}],"paging":{"previous":"x"}}')).notes).toEqual([])
  })

  it('without records, cut off or one behind the other are refused', async () => {
    await expect(readBack('{"data":[],"paging":{}}')).rejects.toMatchObject({ code: 'file_has_no_rows' })
    await expect(readBack('{"data":[{"a":1}],"pag')).rejects.toMatchObject({ code: 'file_unreadable' })
    await expect(readBack('{"data":[{"a":1}]}\n{"data":[{"a":2}]}')).rejects.toMatchObject({
      code: 'file_unreadable',
    })
  })

  it('are no envelopes where data is a value of each line', async () => {
    const file = await readBack('{"a":1,"data":[1,2]}\n{"a":2,"data":[]}\n')
    expect(file).toMatchObject({ format: 'jsonl', headers: ['a', 'data'], lines: 2 })
  })
})

describe('A name that an object has twice', () => {
  it('is flagged where the values differ: one of them would be lost', async () => {
    const { rows } = await readBack('{"a":1,"b":2,"a":3}\n{"a":1,"a":1,"b":2}\n{"a.b":1,"a":{"b":2},"b":0}\n')
    expect(rows.map((row) => [row.flaw, row.extra])).toEqual([
      ['repeated_name', '["a"]'],
      ['', ''],
      ['repeated_name', '["a.b"]'],
    ])
  })
})
