/** Every export of test/fixtures, judged as an upload judges it and compared with what was expected beforehand. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { ads } from '../../src/ingest/packs.ts'
import { type JudgedFile, judgeFile } from './datasets/judge-file.ts'

interface Place {
  line: number
  header: string | null
}

interface Expectation {
  platform: string | null
  format: string | null
  lines: number
  skippedLines?: number[]
  invalid: (Place & { rule?: string })[]
  warnings?: Place[]
  eitherWay?: { line: number }[]
  values?: { line: number; field: string; value: string }[]
  headerLine?: number
  delimiter?: string
  encoding?: string
  error?: string
  suggests?: Record<string, string>
}

const FOLDER = fileURLToPath(new URL('../fixtures/exports', import.meta.url))
const expected: Record<string, Expectation> = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8'))
const files = Object.entries(expected)
const readable = files.filter(([, { error }]) => !error)
const TEXTS = ['csv', 'json', 'jsonl']

/** What cannot be detected is given, as the person who uploads it would. */
const TOLD: Record<string, Parameters<typeof judgeFile>[3]> = {
  'horrors/windows-1252.csv': { encoding: 'windows-1252' },
}
/** Names that differ between lines of one entity are seen when the plan compares lines, not here. */
const SEEN_BY_PLAN = new Set(['meta/conflicting-attributes.csv'])
/** Where two counts are as good: ours finds its feet behind a bad quote, and passes over a line of delimiters. */
const LINES_EITHER_WAY: Record<string, number> = {
  'horrors/unterminated-quote.csv': 4,
  'horrors/blank-lines.csv': 3,
}

const judgedFiles = new Map<string, Promise<JudgedFile>>()
afterAll(closeDuck)

function judged(file: string): Promise<JudgedFile> {
  const judging =
    judgedFiles.get(file) ??
    judgeFile(ads, expected[file]!.platform ?? 'meta', join(FOLDER, file), TOLD[file])
  judgedFiles.set(file, judging)
  return judging
}

/** Without the lines that two people would judge in two ways. */
function settled<T extends { line: number }>({ eitherWay = [] }: Expectation, list: readonly T[]): T[] {
  return list.filter(({ line }) => !eitherWay.some((either) => either.line === line))
}

describe('an export', () => {
  it.each(readable)('%s is recognised', async (name, wanted) => {
    const { file } = await judged(name)
    expect(file.format).toBe(wanted.format)
    if (wanted.headerLine) expect(file.headerLine).toBe(wanted.headerLine)
    if (wanted.delimiter) expect(file.delimiter).toBe(wanted.delimiter)
    if (TEXTS.includes(file.format)) {
      expect(file.encoding.toLowerCase()).toBe(wanted.encoding!.toLowerCase())
    }
  })

  it.each(readable)('%s has all of its lines, and the right ones are left out', async (name, wanted) => {
    const { file, rows } = await judged(name)
    expect(file.lines).toBe(rows.length)
    expect(rows).toHaveLength(LINES_EITHER_WAY[name] ?? wanted.lines)
    const skipped = settled(wanted, rows).filter(({ status }) => status === 'skipped')
    const totals = (wanted.skippedLines ?? []).map((line) => ({ line }))
    expect(skipped.map(({ line }) => line)).toEqual(settled(wanted, totals).map(({ line }) => line))
  })

  it.each(readable)('%s has its errors, under their headers, and no others', async (name, wanted) => {
    const { rows } = await judged(name)
    const found = settled(wanted, rows).flatMap(({ line, errors }) =>
      errors.map(({ column, rule }) => ({ line, header: column, rule })),
    )
    const awaited = settled(wanted, wanted.invalid)
    // `header: null` lets any column be blamed, or none; a rule only where its name is fixed.
    const shown = found.map(({ line, header, rule }, at) => ({
      line,
      header: awaited[at]?.header === null ? null : header,
      ...(awaited[at]?.rule && { rule }),
    }))
    expect(shown).toEqual(awaited)
  })

  it.each(readable.filter(([name]) => !SEEN_BY_PLAN.has(name)))(
    '%s has its warnings, and none that nobody expects',
    async (name, wanted) => {
      const { rows, map } = await judged(name)
      const known = Object.values(map.fields).map(({ header }) => header)
      const awaited = settled(wanted, wanted.warnings ?? []).filter(({ header }) => known.includes(header!))
      const found = settled(
        wanted,
        rows.filter(({ status }) => status !== 'skipped'),
      ).flatMap(({ line, warnings }) => warnings.map(({ column }) => ({ line, header: column })))
      expect(found).toEqual(awaited)
    },
  )

  it.each(readable.filter(([, { values }]) => values))(
    '%s has its values to the last digit',
    async (name, { values }) => {
      const { rows } = await judged(name)
      for (const { line, field, value } of values!) {
        const { text } = rows.find((row) => row.line === line)!
        const written = new RegExp(`"${field}":"?([^",}]*)`).exec(text)![1]
        expect({ line, field, value: plain(written!) }).toEqual({ line, field, value: plain(value) })
      }
    },
  )

  it.each(files.filter(([, { error }]) => error))(
    '%s is refused as a whole, with the reason',
    async (name, wanted) => {
      const refused = await judged(name).then(
        () => undefined,
        (error: { code: string; message: string; hint?: string }) => error,
      )
      expect(refused?.code).toBe(wanted.error)
      for (const [missing, nearest] of Object.entries(wanted.suggests ?? {})) {
        expect(`${refused!.message} ${refused!.hint}`).toContain(`${missing}`)
        expect(`${refused!.message} ${refused!.hint}`).toContain(nearest)
      }
    },
  )
})

/** Zeros behind the decimal point do not change a value. */
function plain(value: string): string {
  return /^-?\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '') : value
}
