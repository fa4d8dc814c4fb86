/** Edits of a column of an upload: a value replaced, or filled in, in many lines at once. They become corrections by line. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { headersOf } from './corrections.ts'
import { type Correction, MAX_CELLS } from './repair.ts'
import type { Upload } from './uploads.ts'

/** The cells of a column that have this text, or none, get another one. */
export interface ColumnEdit {
  /** Header. */
  readonly column: string
  /** Cells with exactly this text; null: empty cells; left out: all cells. */
  readonly from?: string | null | undefined
  /** The text that they get; null: none. */
  readonly to: string | null
  /** Only in lines from … to …, both included. */
  readonly lines?: readonly [number, number] | undefined
}

/** One edit after the other, as if each saw what those before it did. Cells that have their text already are no corrections. */
export async function findEdited(
  db: Queryable,
  upload: Upload,
  edits: readonly ColumnEdit[],
): Promise<Correction[]> {
  const headers = new Set(headersOf(upload))
  const unknown = edits.find(({ column }) => !headers.has(column))
  if (unknown) {
    throw new StagedoorError(
      'argument_invalid',
      { reason: `The file has no column “${unknown.column}”` },
      { hint: `The file has: ${[...headers].join(', ')}` },
    )
  }
  const edited = new Map<number, Record<string, string | null>>()
  for (const edit of edits) {
    const { column, to } = edit
    for (const line of await linesOf(db, upload, edit, edited))
      edited.set(line, { ...edited.get(line), [column]: to })
  }
  return [...edited].map(([line, values]) => ({ line, values }))
}

/** An empty cell of a file is an empty text; a repair may have made it null. */
async function linesOf(
  db: Queryable,
  { upload_id, reading }: Upload,
  { column, from, to, lines: [first, last] = [0, 2_147_483_647] }: ColumnEdit,
  edited: ReadonlyMap<number, Readonly<Record<string, string | null>>>,
): Promise<number[]> {
  const before = [...edited].flatMap(([line, values]) =>
    column in values ? [{ line, value: values[column] ?? '' }] : [],
  )
  const { rows } = await db.query<{ line: number }>(
    `select s.row_number as line
       from public.staging_rows s
       left join jsonb_to_recordset($6) as e (line integer, value text) on e.line = s.row_number,
            lateral (select coalesce(e.value, s.raw_payload ->> $3, '')) as c (cell)
      where s.upload_id = $1 and s.row_type = $2 and s.row_number between $7 and $8
        and ($4::text is null or c.cell = $4) and c.cell <> $5
      order by s.row_number limit $9`,
    [
      upload_id,
      reading!.layout.leaf,
      column,
      from === undefined ? null : (from ?? ''),
      to ?? '',
      JSON.stringify(before),
      first,
      last,
      // One more than allowed, so that too many are noticed; how many there are is not worth a longer look.
      MAX_CELLS + 1,
    ],
  )
  return rows.map(({ line }) => line)
}
