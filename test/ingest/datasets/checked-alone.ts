/** Lines as a repair checks them, without a database to hold them. */
import type { Dataset, Problem } from '../../../src/ingest/datasets/dataset.ts'
import { recheckLines } from '../../../src/ingest/repair.ts'
import type { Upload } from '../../../src/ingest/uploads.ts'
import type { JudgedFile } from './judge-file.ts'

export interface CheckedLine {
  line: number
  status: string
  raw: Record<string, string>
  text: string
  errors: Problem[]
  warnings: Problem[]
}

export async function checkedAlone(
  dataset: Dataset,
  platform: string,
  { file, map, styles, period }: JudgedFile,
  rows: readonly { line: number; raw: Record<string, string | null> }[],
): Promise<CheckedLine[]> {
  const reading = { headers: file.headers, map, styles, period, values: {} }
  const upload = { upload_id: 'u', workspace_id: 'w', client_id: null, platform, reading }
  const lines = rows.map(({ line, raw }) => ({ row_number: line, raw_payload: raw }))
  const checked = await recheckLines(upload as unknown as Upload, dataset, lines)
  return checked.map((row) => ({
    line: Number(row.row_number),
    status: row.validation_status,
    raw: JSON.parse(row.raw_payload),
    text: row.normalized_payload,
    errors: JSON.parse(row.validation_errors),
    warnings: JSON.parse(row.validation_warnings),
  }))
}
