/**
 * The cell of a field before it is read: joined from other cells, then split, replaced, put into one case, mapped and
 * filled in, in this order. What a workspace has taught about a cell comes before the declared transforms.
 */

import { nullIfEmpty, trimmed } from './compile-findings.ts'
import type { Field } from './dataset.ts'
import { listOf, replaceAll, text } from './sql-text.ts'

/** Each step is SQL of the cell, made from the one before; the first gets nothing and reads the file's columns. */
export type CellStep = (cell: string) => string

interface CellSource {
  /** The file's column; a joined field has none. */
  column?: number
  /** Columns that are joined. */
  joined: number[]
  /** Remembered values: text as written → text that is meant. */
  values: Record<string, string | null>
}

/** None: the cell is the file's column as it is. */
export function cellSteps(field: Field, { column, joined, values }: CellSource): CellStep[] {
  const remembered = Object.entries(values)
  const steps: CellStep[] = [
    ...(field.join ? [() => joinCells(joined, field.join!.separator)] : []),
    ...(remembered.length > 0 ? [(cell: string) => rememberedCell(cell, remembered)] : []),
    ...(field.split ? [(cell: string) => splitCell(cell, field.split!)] : []),
    ...(field.replace ?? []).map(
      (one): CellStep =>
        (cell) =>
          replaceAll(cell, one.pattern, one.with),
    ),
    ...(field.case ? [(cell: string) => `${field.case}(${cell})`] : []),
    ...(field.map ? [(cell: string) => mapCell(cell, field.map!)] : []),
    ...(field.default === undefined ? [] : [(cell: string) => defaultCell(cell, field.default!)]),
  ]
  const [first, ...rest] = steps
  return first ? [() => first(`c${column}`), ...rest] : []
}

/** Is what it reads another text than what stands in the file? */
export function isTransformed({ join, split, replace, case: letters, map, default: other }: Field): boolean {
  return [join, split, replace, letters, map, other].some((transform) => transform !== undefined)
}

/** Does the file need a column for it? What is joined or computed comes from others. */
export function hasOwnColumn(field: Pick<Field, 'join' | 'compute'>): boolean {
  return field.join === undefined && field.compute === undefined
}

function joinCells(columns: number[], separator: string): string {
  const cells = columns.map((column) => nullIfEmpty(trimmed(`c${column}`)))
  return `concat_ws(${text(separator)}, ${cells.join(', ')})`
}

function rememberedCell(cell: string, values: [written: string, meant: string | null][]): string {
  const cases = values.map(([written, meant]) => `WHEN ${text(written)} THEN ${text(meant ?? '')}`)
  return `CASE trim(${cell}) ${cases.join(' ')} ELSE ${cell} END`
}

/** A cell with fewer parts has nothing there. */
function splitCell(cell: string, { separator, part }: NonNullable<Field['split']>): string {
  return `coalesce(${trimmed(`list_extract(string_split(${cell}, ${text(separator)}), ${Number(part)})`)}, '')`
}

function mapCell(cell: string, map: NonNullable<Field['map']>): string {
  const [keys, values] = [Object.keys(map), Object.values(map).map((value) => value ?? '')]
  if (keys.length === 0) return cell
  return `coalesce(list_extract(${listOf(values)}, list_position(${listOf(keys)}, ${trimmed(cell)})), ${cell})`
}

function defaultCell(cell: string, value: string): string {
  return `CASE WHEN (${nullIfEmpty(trimmed(cell))}) IS NULL THEN ${text(value)} ELSE ${cell} END`
}
