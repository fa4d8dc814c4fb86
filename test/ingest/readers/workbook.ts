/** A small Excel workbook, written by hand: only what the reader has to understand. */
import { crc32, deflateRawSync } from 'node:zlib'

export function zip(files: Record<string, string>): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, tail, Buffer.from(name))
    bodies.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Object.keys(files).length, 4)
  end.writeUInt16LE(Object.keys(files).length, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...bodies, listed, Buffer.from('PK\x05\x06'), end])
}

interface WorkbookParts {
  /** The inside of `<sheetData>`, by the sheet's name. */
  sheets: Record<string, string>
  texts?: string[]
  /** Number format codes; a cell's style 1 is the first of them. */
  formats?: string[]
  from1904?: boolean
  hidden?: string[]
  /** Of every sheet, as `A2:A4`. */
  merged?: string[]
}

export function workbook({
  sheets,
  texts = [],
  formats = [],
  from1904 = false,
  hidden = [],
  merged = [],
}: WorkbookParts): Buffer {
  const names = Object.keys(sheets)
  const files: Record<string, string> = {
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8"?><workbook xmlns:r="r"><workbookPr date1904="${from1904 ? 1 : 0}"/><sheets>${names
      .map(
        (name, index) =>
          `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"${hidden.includes(name) ? ' state="hidden"' : ''}/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${names
      .map((_, index) => `<Relationship Id="rId${index + 1}" Target="worksheets/sheet${index + 1}.xml"/>`)
      .join('')}</Relationships>`,
    'xl/styles.xml': `<styleSheet><numFmts>${formats
      .map(
        (code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
      )
      .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
      .map((_, index) => `<xf numFmtId="${164 + index}"/>`)
      .join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si>${text}</si>`).join('')}</sst>`,
  }
  for (const [index, name] of names.entries()) {
    files[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet><sheetData>${sheets[name]}</sheetData><mergeCells>${merged.map((area) => `<mergeCell ref="${area}"/>`).join('')}</mergeCells></worksheet>`
  }
  return zip(files)
}

/** Rows of texts as inline strings, from the given row on. */
export function textRows(rows: string[][], first = 1): string {
  return rows
    .map((fields, index) => {
      const cells = fields.map((field) => `<c t="inlineStr"><is><t>${field}</t></is></c>`)
      return `<row r="${first + index}">${cells.join('')}</row>`
    })
    .join('')
}
