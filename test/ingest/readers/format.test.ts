import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

describe('What is no table is refused, in words that say what it is', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['nothing in it', Buffer.from(' \r\n\n')],
    ['gzip', gzipSync('a,b\n1,2\n')],
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
