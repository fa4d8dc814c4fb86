/** Edits of a column of an upload: a value replaced, or filled in, in many lines at once. They become corrections by line. */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { headersOf } from './corrections.ts'
import { type Correction, MAX_CELLS } from './repair.ts'
import { type LineFilter, lineFilterSql } from './staged-rows.ts'
import type { Upload } from './uploads.ts'

/** The cells of a column that have this text, or none, get another one. */
export interface ColumnEdit {
  /** Header. */
  readonly column: string
  /** Cells with exactly this text; null: empty cells; left out: all cells. */
  readonly from?: string | null | undefined
  /** The text that they get; null: none. */
  readonly to: string | null
  /** part: wherever `from` stands in a cell it is replaced, and the rest of the cell stays; default cell. */
  readonly match?: 'cell' | 'part' | undefined
  /** Only in lines from … to …, both included. */
  readonly lines?: readonly [number, number] | undefined
  /** Only in lines that a list with this filter shows. */
  readonly where?: LineFilter | undefined
}

/**
 * One edit after the other, as if each saw what those before it did. Cells that have their text already are no corrections.
 * `unsaved` are corrections that somebody has made and not sent yet: the edits see them, and they are not part of the result.
 */
export async function findEdited(
  db: Queryable,
  upload: Upload,
  edits: readonly ColumnEdit[],
  unsaved: readonly Correction[] = [],
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
  const partial = edits.find(({ match, from }) => match === 'part' && !from)
  if (partial)
    throw new StagedoorError('argument_invalid', {
      reason: 'To replace a part of cells, say which text is replaced',
    })
  const now = new Map<number, Record<string, string | null>>()
  for (const { line, values } of unsaved) now.set(line, { ...now.get(line), ...values })
  const edited = new Map<number, { values: Record<string, string | null>; expect: Record<string, string> }>()
  let cells = 0
  for (const edit of edits) {
    const { column } = edit
    for (const { line, before, after } of await cellsOf(db, upload, edit, now)) {
      const { values = {}, expect = {} } = edited.get(line) ?? {}
      if (!Object.hasOwn(expect, column)) cells += 1
      edited.set(line, {
        values: { ...values, [column]: after === '' ? null : after },
        expect: { [column]: before, ...expect },
      })
      now.set(line, { ...now.get(line), [column]: after })
    }
    if (cells > MAX_CELLS) break
  }
  return [...edited].sort(([one], [other]) => one - other).map(([line, change]) => ({ line, ...change }))
}

/** An empty cell of a file is an empty text; a repair may have made it null. */
async function cellsOf(
  db: Queryable,
  { upload_id, reading }: Upload,
  { column, from, to, match = 'cell', lines: [first, last] = [0, 2_147_483_647], where = {} }: ColumnEdit,
  edited: ReadonlyMap<number, Readonly<Record<string, string | null>>>,
): Promise<{ line: number; before: string; after: string }[]> {
  const before = [...edited].flatMap(([line, values]) =>
    Object.hasOwn(values, column) ? [{ line, value: values[column] ?? '' }] : [],
  )
  const filter = lineFilterSql(where, 's', 11)
  const { rows } = await db.query<{ line: number; before: string; after: string }>(
    `select s.row_number as line, c.cell as before, n.cell as after
       from public.staging_rows s
       left join jsonb_to_recordset($6) as e (line integer, value text) on e.line = s.row_number,
            lateral (select coalesce(e.value, s.raw_payload ->> $3, '')) as c (cell),
            lateral (select case when $10 then replace(c.cell, $4, $5) else $5 end) as n (cell)
      where s.upload_id = $1 and s.row_type = $2 and s.row_number between $7 and $8
        and ($4::text is null or case when $10 then strpos(c.cell, $4) > 0 else c.cell = $4 end) and c.cell <> n.cell
        and ${filter.sql}
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
      match === 'part',
      ...filter.values,
    ],
  )
  return rows
}
