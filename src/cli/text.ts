/** Text for a window: made visible, measured by its width, shortened, wrapped. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import { formatCount } from './format.ts'

/** Controls, and what takes no room or turns the direction of writing. The emoji form of a sign is left as it is. */
const HIDDEN_CHARACTERS = /(?!\n|\t|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * What others wrote, so that it cannot move the cursor, colour, hide or reorder what stands around it: every
 * character that one would not see is shown by a picture or its number. Newlines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, escapeCharacter)
}

/** The same for what must stay on its line: a newline in a purpose must not begin a line that looks like ours. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '␡'
  const hex = code.toString(16)
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

/** Columns that a text takes in a terminal: two for a Chinese character or an emoji, none for a combining mark. */
export function textWidth(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(text)
}

/** Nearly all text is, and is measured at once. */
function isNarrow(text: string): boolean {
  return /^[\x20-\x7e\xa0-\u02ff]*$/.test(text)
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text))) + text
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** At most that many columns, and a mark where there was more. */
export function truncate(text: string, columns: number): string {
  const [first, rest] = splitAtWidth(text, columns)
  return rest === '' ? text : `${first}…`
}

/** The beginning that fits into so many columns, never inside of a character, and the rest. */
function splitAtWidth(text: string, columns: number): [string, string] {
  if (text.length <= columns && isNarrow(text)) return [text, '']
  let taken = 0
  let at = 0
  // Of a line of megabytes only the beginning is taken apart.
  for (const { segment } of graphemes.segment(text.slice(0, 20 * columns + 100))) {
    const width = textWidth(segment)
    if (taken + width > columns) return [text.slice(0, at), text.slice(at)]
    taken += width
    at += segment.length
  }
  return [text.slice(0, at), text.slice(at)]
}

/** On its line and in its width, with a mark where there was more. */
export function truncateLine(text: string, width: number): string {
  return truncate(printableLine(text), Math.max(1, width - 1))
}

/** Lines of at most `width`, broken at blanks where there are any. What others wrote is made visible first. */
export function wrapText(text: string, width: number): string[] {
  const words = printableLine(text).split(' ')
  return fillLines(
    words.flatMap((word) => splitWord(word, width)),
    width,
  )
}

/** Lines of at most `width`; what follows a list's or a code's indentation keeps it. */
export function wrapIndented(line: string, width: number): string[] {
  const [indent] = /^ */.exec(line.slice(0, Math.floor(width / 2)))!
  return wrapText(line.slice(indent.length).replaceAll('\t', '  '), width - indent.length).map(
    (part) => indent + part,
  )
}

/** A text behind `head`, which takes `indent` columns; its further lines begin below its first. */
export function hanging(head: string, text: string, indent: number): string {
  return head + wrapText(text, screenWidth() - indent).join(`\n${' '.repeat(indent)}`)
}

/** A command stays on one line where it fits, and whole where it does not: cut by a newline it could not be pasted. */
const WORDS = /`[^`\n]+`[^\s`]*|\S+/g

/**
 * Sentences of ours for a window, the lines behind the first indented. Unlike `wrap` it breaks no word: an address or a digest
 * is left to the terminal.
 */
export function prose(text: string, { window = windowWidth(), indent = 0 } = {}): string {
  const blanks = ' '.repeat(indent)
  return printable(text)
    .split('\n')
    .flatMap((line) =>
      indent + textWidth(line) <= window ? [line] : fillLines(line.match(WORDS) ?? [], window - indent),
    )
    .join(`\n${blanks}`)
}

function fillLines(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

function splitWord(word: string, width: number): string[] {
  const [first, rest] = splitAtWidth(word, Math.max(2, width))
  return rest === '' ? [first] : [first, ...splitWord(rest, width)]
}

/** The first lines of a text, and how many are left out. A text that is one line too long is shown whole. */
export function firstLines(lines: readonly string[], max: number, hint = ': --full'): readonly string[] {
  if (lines.length <= max + 1) return lines
  return [...lines.slice(0, max), pc.dim(`… ${formatCount(lines.length - max)} more lines${hint}`)]
}

/** For tables and texts that are laid out by us: wide enough to be read, and no wider than people read. */
export function screenWidth(): number {
  return Math.max(60, Math.min(process.stdout.columns ?? 120, 160))
}

/** Piped, nobody's window is too narrow. */
export function windowWidth(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.isTTY ? stream.columns || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** A bar of so many columns, full up to `share` from 0 to 1. */
export function barText(share: number, width: number): string {
  const full = Math.round(Math.min(1, share) * width)
  return pc.cyan('█'.repeat(full)) + pc.dim('░'.repeat(width - full))
}
