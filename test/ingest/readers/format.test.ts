import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'
import { textRows, workbook, zip } from './workbook.ts'

afterAll(closeDuck)

describe('What is no table is refused, in words that say what it is', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['nothing in it', Buffer.from(' \r\n\n')],
    ['damaged or incomplete archive', gzipSync('a,b\n1,2\n').subarray(0, 20)],
    ['archive within an archive', gzipSync(gzipSync('a,b\n1,2\n'))],
    ['64 MiB', gzipSync(Buffer.alloc(70 * 1024 * 1024, 'a,b\n'))],
    ['2 files (“a.csv”, “b.csv”)', zip({ 'a.csv': 'a,b\n1,2\n', 'b.csv': 'a,b\n1,2\n' })],
    ['.ods', zip({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '<x/>' })],
    ['Numbers', zip({ 'Index/Document.iwa': 'x' })],
    ['.xlsb', zip({ '[Content_Types].xml': '<x/>', 'xl/workbook.bin': 'x' })],
    ['Word', zip({ '[Content_Types].xml': '<x/>', 'word/document.xml': '<x/>' })],
    ['PDF', Buffer.from('%PDF-1.7\n')],
    ['PNG', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
    ['JPEG', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['program', Buffer.from('\x7fELF\x02', 'latin1')],
    ['program', Buffer.from('MZ\x90\0', 'latin1')],
    ['.xls', Buffer.from('\xd0\xcf\x11\xe0\xa1', 'latin1')],
    ['web page', Buffer.from('\n<!DOCTYPE html><html><body>a,b</body></html>')],
    ['web page', Buffer.from('\ufeff<html>', 'utf16le')],
    ['XML', Buffer.from('<?xml version="1.0"?><Workbook/>')],
    ['not a text', Buffer.from('\x01\0\0\0\0\x02\0\0\0\0\0\x03', 'latin1')],
    ['not a text', Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * at * 7 + at * 31 + 80) % 251))],
    ['could be a header', Buffer.from('x'.repeat(2 * 1024 * 1024))],
  ])('%s', async (words, bytes) => {
    const error = await readBack(bytes).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_unreadable' })
    expect((error as { details: { reason: string } }).details.reason).toContain(words)
  })

  it('also when the uploader calls it a CSV', async () => {
    await expect(readBack('%PDF-1.7\n', { format: 'csv' })).rejects.toMatchObject({ code: 'file_unreadable' })
  })
})

describe('A packed file is read as the file inside', () => {
  const csv = 'name,n\nAnn,1\n'
  const book = workbook({ sheets: { One: textRows([...[['name', 'n']], ['Ann', 'x']]) } })

  it.each([
    ['gzip', gzipSync(csv), 'gzip'],
    ['a zip of one file', zip({ 'in/data.csv': csv, '__MACOSX/._data.csv': 'x' }), 'in/data.csv'],
  ])('%s', async (_, bytes, words) => {
    const { rows, notes } = await readBack(bytes)
    expect(rows.map((row) => row.values)).toEqual([['Ann', '1']])
    expect(notes[0]).toMatchObject({ rule: 'file.unpacked' })
    expect(notes[0]!.message).toContain(words)
  })

  it('a workbook in a gzip, too', async () => {
    expect(await readBack(gzipSync(book))).toMatchObject({ format: 'xlsx', lines: 1 })
  })
})
