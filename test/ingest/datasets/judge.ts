/** Runs lines through the compiled SELECT, as an upload does: chunk, profile, header map, judgement. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSelect } from '../../../src/ingest/datasets/compile.ts'
import type { Dataset, Problem } from '../../../src/ingest/datasets/dataset.ts'
import { mapHeaders, type RememberedMapping, resolvePeriod } from '../../../src/ingest/datasets/headers.ts'
import { type Evidence, profileOf, profileSql, type Styles } from '../../../src/ingest/datasets/profile.ts'
import { queryDuck } from '../../../src/ingest/duckdb.ts'
import { chunkSource } from '../../../src/ingest/readers/chunks.ts'
import { writeChunk } from '../readers/write-chunk.ts'

export interface Judged {
  status: string
  raw: Record<string, string>
  values: Record<string, unknown>
  /** The normalised payload as text: numbers keep all their digits. */
  text: string
  errors: Problem[]
  warnings: Problem[]
  rules: string[]
  row: Record<string, unknown>
}

export interface FileShape {
  platform?: string
  delimiter?: string
  preamble?: string[]
  remembered?: RememberedMapping
  values?: Record<string, Record<string, string | null>>
  styles?: Styles
  flaws?: Record<number, string>
  /** As a repair reads it: nothing is known of whole columns. */
  way?: 'long'
  /** Gets the fields whose columns are plain throughout. */
  onPlain?: (fields: string[]) => void
}

export async function judge(
  dataset: Dataset,
  headers: string[],
  lines: (string | null)[][],
  shape: FileShape = {},
): Promise<Judged[]> {
  const platform = shape.platform ?? Object.keys(dataset.platforms)[0]!
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-datasets-'))
  try {
    const chunk = join(folder, 'chunk.csv')
    const rows = lines.map((values, index) => ({ line: index + 2, flaw: shape.flaws?.[index] ?? '', values }))
    await writeChunk(chunk, headers, rows)
    const source = chunkSource([chunk], headers.length)
    const map = mapHeaders(dataset, platform, headers, shape.remembered)
    const preamblePeriod = resolvePeriod({
      dataset,
      platform,
      map,
      preamble: (shape.preamble ?? []).map((text) => ({ text })),
    })
    const declared = {
      dataset,
      platform,
      map,
      upload: { workspace_id: 'w', client_id: null, upload_id: 'u' },
      preamblePeriod,
      ...(shape.values ? { values: shape.values } : {}),
    }
    const [evidence] = await queryDuck<Evidence>(profileSql(declared, source))
    const { styles, plain, signs } = profileOf(evidence!, shape.delimiter ?? ',', shape.styles)
    shape.onPlain?.([...plain.keys()])
    const sql = compileSelect({
      ...declared,
      source,
      styles,
      signs,
      ...(shape.way === 'long' ? {} : { plain }),
    })
    return (await queryDuck(sql)).map(judgedRow)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function judgedRow(row: Record<string, unknown>): Judged {
  const errors = JSON.parse(String(row.validation_errors)) as Problem[]
  const warnings = JSON.parse(String(row.validation_warnings)) as Problem[]
  return {
    status: String(row.validation_status),
    raw: JSON.parse(String(row.raw_payload)),
    values: JSON.parse(String(row.normalized_payload)),
    text: String(row.normalized_payload),
    errors,
    warnings,
    rules: [...errors, ...warnings].map(({ rule }) => rule),
    row,
  }
}
