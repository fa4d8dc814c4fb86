import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

const TEXT = 'name,n\nTiếng Việt 👍,1\n"é\r\nx",2\n'

function utf16(text: string, order: 'le' | 'be', mark: boolean): Buffer {
  const bytes = Buffer.from(mark ? `\ufeff${text}` : text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('The encoding is found', () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with BOM', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16LE', utf16(TEXT, 'le', false)],
    ['UTF-16LE with BOM', utf16(TEXT, 'le', true)],
    ['UTF-16BE', utf16(TEXT, 'be', false)],
    ['UTF-16BE with BOM', utf16(TEXT, 'be', true)],
  ])('as %s', async (name, bytes) => {
    for (const bufferBytes of [3, 4096]) {
      const file = await readBack(bytes, { bufferBytes })
      expect(file).toMatchObject({ encoding: name, headers: ['name', 'n'] })
      expect(file.rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
        [2, '', 'Tiếng Việt 👍', '1'],
        [3, '', 'é\nx', '2'],
      ])
    }
  })

  it('unless it is given', async () => {
    const bytes = Buffer.from([...Buffer.from('name,n\n'), 0x80, 0x92, 0xe9, ...Buffer.from(',1\n')])
    const file = await readBack(bytes, { encoding: 'windows-1252' })
    expect(file).toMatchObject({ encoding: 'windows-1252', notes: [] })
    expect(file.rows).toEqual([{ line: 2, flaw: '', extra: '', values: ['€’é', '1'] }])
  })
})

describe('Damaged UTF-16', () => {
  it('has half a pair of surrogates in one record, which is flawed', async () => {
    const { rows } = await readBack(utf16('name,n\na\ud83db,1\nc,2\n', 'le', true))
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['invalid_utf8', 'a\ufffdb', '1'],
      ['', 'c', '2'],
    ])
  })

  it('ends in the middle of a character', async () => {
    const { rows } = await readBack(utf16('name,n\na,1\nc,2', 'be', true).subarray(0, -1))
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['', 'a', '1'],
      ['invalid_utf8', 'c', '\ufffd'],
    ])
  })
})
