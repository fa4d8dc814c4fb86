/** A dataset as people write it, and how two of them differ: for `dataset export` and `dataset diff`. */
import type { TableCatalogue } from './catalogue.ts'
import {
  completeDataset,
  type Dataset,
  type DatasetDeclaration,
  type Field,
  type FieldDeclaration,
  ONLY_PLATFORM,
} from './dataset.ts'
import { columnFieldType } from './proposal.ts'

/** Without what completeDataset fills in again. */
export function shortForm(dataset: Dataset): DatasetDeclaration {
  const {
    title,
    version,
    platforms,
    fields,
    rows,
    check: _,
    ...rest
  } = dataset as Dataset & Record<string, unknown>
  const {
    definition_digest: _digest,
    field_order: _order,
    custom_rule: _rule,
    name,
    ...other
  } = rest as typeof rest & Record<string, unknown>
  const bare = {
    ...other,
    name,
    fields: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, shortField(field)])),
    rows: rows.map(({ requires: _requires, ...row }) => row),
  } as DatasetDeclaration
  const filled = completeDataset(bare)
  const isOnly = Object.keys(platforms).join() === ONLY_PLATFORM && same(platforms, filled.platforms)
  return {
    name,
    ...(title !== filled.title && { title }),
    ...(version !== 1 && { version }),
    ...(!isOnly && { platforms }),
    ...Object.fromEntries(Object.entries(bare).filter(([key]) => key !== 'name')),
    rows: rows.map((row, index) => {
      const { requires, ...others } = row
      return same(requires, filled.rows[index]!.requires) ? others : row
    }),
  } as DatasetDeclaration
}

function shortField({ aliases, ...field }: Field): FieldDeclaration {
  const names = Object.keys(aliases)
  if (names.length === 0) return field
  return { ...field, aliases: names.length === 1 && names[0] === 'any' ? aliases.any! : aliases }
}

export interface Difference {
  /** fields.price.type */
  readonly path: string
  readonly change: 'new' | 'dropped' | 'changed'
  readonly before?: unknown
  readonly after?: unknown
}

const MAX_DEPTH = 3

/** Where `after` differs from `before`, member by member. */
export function differences(before: unknown, after: unknown, path = '', depth = 0): Difference[] {
  if (same(before, after)) return []
  if (before === undefined) return [{ path, change: 'new', after }]
  if (after === undefined) return [{ path, change: 'dropped', before }]
  if (depth >= MAX_DEPTH || !isObject(before) || !isObject(after))
    return [{ path, change: 'changed', before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) =>
    differences(before[name], after[name], path === '' ? name : `${path}.${name}`, depth + 1),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Whatever the order of the members, which PostgreSQL does not keep. */
function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  )
}

export interface TableDifference {
  readonly table: string
  readonly column: string
  readonly change: 'not declared' | 'not in the table' | 'another type' | 'longer than the column'
  readonly text: string
}

/** Types of fields that a type of column can hold besides its own. */
const COMPATIBLE_TYPES: Readonly<Record<string, readonly string[]>> = {
  decimal: ['integer', 'money', 'percent'],
  timestamptz: ['timestamp', 'date'],
  timestamp: ['date'],
  enum: ['text'],
  json: ['text'],
  uuid: ['text', 'id'],
  integer: ['id'],
  money: ['decimal', 'integer'],
}

/** A dataset against one of its tables as it is now. */
export function tableDifferences(dataset: Dataset, table: TableCatalogue, target: string): TableDifference[] {
  const row = dataset.rows.find((found) => found.target === target)!
  const found = new Map(table.columns.map((column) => [column.name, column]))
  const declared = Object.entries(row.columns).flatMap(([name, source]): TableDifference[] => {
    const column = found.get(name)
    if (!column)
      return [
        {
          table: target,
          column: name,
          change: 'not in the table',
          text: `${target} has no column ${name} any more`,
        },
      ]
    const field = dataset.fields[source]
    if (!field || field.lookup !== undefined) return []
    const type = columnFieldType(column)
    if (type !== 'text' && type !== field.type && !COMPATIBLE_TYPES[type]?.includes(field.type))
      return [
        {
          table: target,
          column: name,
          change: 'another type',
          text: `${name} is ${column.type}, and the field ${source} is ${field.type}`,
        },
      ]
    if (column.maxLength !== null && (field.maxLength ?? column.maxLength) > column.maxLength)
      return [
        {
          table: target,
          column: name,
          change: 'longer than the column',
          text: `${name} holds ${column.maxLength} characters, and the field ${source} takes ${field.maxLength}`,
        },
      ]
    return []
  })
  const left = table.columns
    .filter(
      ({ name, generated, identity }) =>
        row.columns[name] === undefined && name !== row.id && !generated && !identity,
    )
    .map(({ name, type }) => ({
      table: target,
      column: name,
      change: 'not declared' as const,
      text: `${name} (${type}) is in the table and not declared`,
    }))
  return [...declared, ...left]
}
