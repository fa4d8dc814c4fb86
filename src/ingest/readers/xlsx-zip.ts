/** The parts of a workbook, streamed out of its zip: nothing is unpacked to disk or held. */
import { StringDecoder } from 'node:string_decoder'
import { SaxesParser } from 'saxes'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { unreadable } from './format.ts'

/** A cell holds 32,767 characters at most; what goes on for longer without an end is no workbook. */
const MOST_UNENDED = 16 * 1024 * 1024
const MOST_PARTS = 10_000
const LONGEST_TAG = 4096

export interface XmlHandler {
  /** Names come without their namespace's prefix. */
  open?: (name: string, attributes: Record<string, string>) => void
  text?: (text: string) => void
  close?: (name: string) => void
}

export class WorkbookZip {
  readonly #zip: ZipFile
  readonly #parts: Map<string, Entry>

  constructor(zip: ZipFile, parts: Map<string, Entry>) {
    this.#zip = zip
    this.#parts = parts
  }

  has(part: string): boolean {
    return this.#parts.has(part)
  }

  sizeOf(part: string): number {
    return this.#parts.get(part)?.uncompressedSize ?? 0
  }

  close(): void {
    this.#zip.close()
  }

  /** Parses a part; yields after each piece, so that what it held can be taken away and the server gets its turn. */
  async *parse(part: string, handler: XmlHandler): AsyncGenerator<{ bytes: number }> {
    const entry = this.#parts.get(part)
    if (!entry) throw unreadable(`it is a workbook without ${part}`)
    const { parser, sinceEnd } = parserFor(handler)
    const decoder = new StringDecoder('utf8')
    let bytes = 0
    try {
      const pieces: AsyncIterable<Buffer> = await this.#zip.openReadStreamPromise(entry)
      for await (const piece of pieces) {
        parser.write(decoder.write(piece))
        bytes += piece.length
        if (sinceEnd(piece.length) > MOST_UNENDED) throw unreadable('it has a cell without an end')
        yield { bytes }
      }
      parser.write(decoder.end()).close()
    } catch (error) {
      throw asDamaged(error)
    }
  }

  /** A part's text, piece by piece; each begins with the end of the one before, so that no tag is cut. */
  async *texts(part: string): AsyncGenerator<string> {
    const entry = this.#parts.get(part)
    if (!entry) return
    let tail = ''
    try {
      const pieces: AsyncIterable<Buffer> = await this.#zip.openReadStreamPromise(entry)
      for await (const piece of pieces) {
        const text = tail + piece.toString('latin1')
        const cut = text.lastIndexOf('<')
        const end = cut < 0 || text.length - cut > LONGEST_TAG ? text.length : cut
        yield text.slice(0, end)
        tail = text.slice(end)
      }
      yield tail
    } catch (error) {
      throw asDamaged(error)
    }
  }

  async parseWhole(part: string, handler: XmlHandler): Promise<void> {
    for await (const _ of this.parse(part, handler));
  }
}

export async function openWorkbook(path: string): Promise<WorkbookZip> {
  let zip: ZipFile | undefined
  try {
    zip = await openPromise(path, { lazyEntries: true, autoClose: false })
    const parts = new Map<string, Entry>()
    for await (const entry of zip.eachEntry()) {
      parts.set(entry.fileName.replace(/^\//, ''), entry)
      if (parts.size > MOST_PARTS) break
    }
    if (!parts.has('[Content_Types].xml') || !parts.has('xl/workbook.xml')) {
      throw unreadable('it is a zip archive, but no Excel workbook: unpack it first')
    }
    return new WorkbookZip(zip, parts)
  } catch (error) {
    zip?.close()
    throw asDamaged(error)
  }
}

function parserFor(handler: XmlHandler): {
  parser: Pick<SaxesParser, 'write' | 'close'>
  sinceEnd: (bytes: number) => number
} {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  let unended = 0
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('A workbook has no document type')
  })
  parser.on('opentag', (tag) => handler.open?.(localName(tag.name), tag.attributes))
  parser.on('text', (text) => handler.text?.(text))
  parser.on('closetag', (tag) => {
    unended = 0
    handler.close?.(localName(tag.name))
  })
  return {
    parser,
    sinceEnd: (bytes) => {
      unended += bytes
      return unended
    },
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function asDamaged(error: unknown): Error {
  const known = error instanceof Error && error.name === 'StagedoorError'
  return known ? error : unreadable('it is a damaged or incomplete Excel workbook', error)
}
