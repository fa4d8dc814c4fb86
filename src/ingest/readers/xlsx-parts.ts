/** What a workbook says about its sheets: their names and order, the formats of numbers, the texts they share. */
import { LONGEST_RECORD } from './csv-record.ts'
import { unreadable } from './format.ts'
import { kindOfFormat, type NumberKind, unescaped } from './xlsx-value.ts'
import type { WorkbookZip } from './xlsx-zip.ts'

export interface Sheet {
  name: string
  part: string
  hidden: boolean
}

export interface Workbook {
  sheets: Sheet[]
  from1904: boolean
  /** By the style number of a cell. */
  kinds: NumberKind[]
  texts: string[]
}

/** Shared texts are looked up by number all through a sheet and so have to be held. */
const MOST_SHARED_CHARACTERS = 64 * 1024 * 1024

export async function readWorkbook(zip: WorkbookZip): Promise<Workbook> {
  const targets = await readTargets(zip)
  const { sheets, from1904 } = await readSheets(zip, targets)
  return { sheets, from1904, kinds: await readKinds(zip), texts: await readSharedTexts(zip) }
}

async function readTargets(zip: WorkbookZip): Promise<Map<string, string>> {
  const targets = new Map<string, string>()
  await zip.parseWhole('xl/_rels/workbook.xml.rels', {
    open: (name, { Id, Target }) => {
      if (name !== 'Relationship' || Id === undefined || Target === undefined) return
      targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target.replace(/^\.\//, '')}`)
    },
  })
  return targets
}

async function readSheets(
  zip: WorkbookZip,
  targets: Map<string, string>,
): Promise<{ sheets: Sheet[]; from1904: boolean }> {
  const sheets: Sheet[] = []
  let from1904 = false
  await zip.parseWhole('xl/workbook.xml', {
    open: (name, attributes) => {
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const reference = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? ''
      const part = targets.get(reference)
      const hidden = (attributes.state ?? 'visible') !== 'visible'
      if (part && zip.has(part)) sheets.push({ name: attributes.name ?? '', part, hidden })
    },
  })
  return { sheets, from1904 }
}

async function readKinds(zip: WorkbookZip): Promise<NumberKind[]> {
  const kinds: NumberKind[] = []
  if (!zip.has('xl/styles.xml')) return kinds
  const codes = new Map<string, string>()
  let inCellFormats = false
  await zip.parseWhole('xl/styles.xml', {
    open: (name, { numFmtId = '0', formatCode }) => {
      if (name === 'numFmt' && formatCode !== undefined) codes.set(numFmtId, formatCode)
      if (name === 'cellXfs') inCellFormats = true
      if (name === 'xf' && inCellFormats) kinds.push(kindOfFormat(Number(numFmtId), codes.get(numFmtId)))
    },
    close: (name) => {
      if (name === 'cellXfs') inCellFormats = false
    },
  })
  return kinds
}

async function readSharedTexts(zip: WorkbookZip): Promise<string[]> {
  const texts: string[] = []
  if (!zip.has('xl/sharedStrings.xml')) return texts
  let characters = 0
  let text = ''
  let inText = false
  let inReadingAid = false
  await zip.parseWhole('xl/sharedStrings.xml', {
    open: (name) => {
      if (name === 'si') text = ''
      if (name === 'rPh') inReadingAid = true
      if (name === 't') inText = !inReadingAid
    },
    text: (piece) => {
      if (inText && text.length < LONGEST_RECORD) text += piece
    },
    close: (name) => {
      if (name === 't') inText = false
      if (name === 'rPh') inReadingAid = false
      if (name !== 'si') return
      texts.push(unescaped(text))
      characters += text.length
      if (characters > MOST_SHARED_CHARACTERS)
        throw unreadable('it is too large for a workbook: save it as CSV')
    },
  })
  return texts
}
