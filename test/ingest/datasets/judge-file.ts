/** Takes a file the whole way up to PostgreSQL: what staging would hold of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSelect } from '../../../src/ingest/datasets/compile.ts'
import type { Dataset } from '../../../src/ingest/datasets/dataset.ts'
import {
  type HeaderMap,
  jsonColumns,
  knownHeaderTest,
  mapHeaders,
  type Period,
  resolvePeriod,
} from '../../../src/ingest/datasets/headers.ts'
import { type Evidence, profileOf, profileSql, type Styles } from '../../../src/ingest/datasets/profile.ts'
import { queryDuck } from '../../../src/ingest/duckdb.ts'
import { chunkSource } from '../../../src/ingest/readers/chunks.ts'
import {
  type NormalisedFile,
  normaliseFile,
  type ReadOptions,
} from '../../../src/ingest/readers/normalise.ts'
import { type Judged, judgedRow } from './judge.ts'

export interface JudgedFile {
  file: NormalisedFile
  map: HeaderMap
  styles: Styles
  period: Period | null
  rows: (Judged & { line: number })[]
}

export async function judgeFile(
  dataset: Dataset,
  platform: string,
  path: string,
  options: ReadOptions = {},
  told?: Styles,
): Promise<JudgedFile> {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-file-'))
  try {
    const knowsHeader = knownHeaderTest(dataset, platform)
    const file = await normaliseFile(path, folder, {
      knowsHeader,
      ...jsonColumns(dataset, platform),
      ...options,
    })
    const map = mapHeaders(dataset, platform, file.headers)
    const period = resolvePeriod({ dataset, platform, map, preamble: file.preamble })
    const source = chunkSource(file.chunks, file.headers.length)
    const upload = { workspace_id: 'w', client_id: null, upload_id: 'u' }
    const declared = { dataset, platform, map, upload, preamblePeriod: period }
    const [evidence] = await queryDuck<Evidence>(profileSql(declared, source))
    const { styles, plain, signs } = profileOf(evidence!, file.delimiter, told)
    const sql = compileSelect({ ...declared, styles, plain, signs, source })
    const rows = (await queryDuck(sql)).map((row) => ({ line: Number(row.row_number), ...judgedRow(row) }))
    return { file, map, styles, period, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
