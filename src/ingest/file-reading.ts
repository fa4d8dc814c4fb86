/**
 * How a file was read, for whoever reviews it: which column became which field, what was ignored, which values were matched, with
 * which options, and who said so. Read under the caller's own rights.
 */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Dataset, titleOf } from './datasets/dataset.ts'
import { headerKey } from './datasets/header-key.ts'
import { rememberedField } from './datasets/headers.ts'
import { requireDataset } from './datasets/registry.ts'
import type { FileReading } from './mapping-shapes.ts'
import type { RememberedOption } from './read-options.ts'
import type { FileOptions } from './stage.ts'
import { requireUpload, type Upload } from './uploads.ts'

const MAX_VALUES = 200

/** Null: the file is not read yet, or its lines were staged by SQL. */
export async function describeReading(db: Queryable, id: string): Promise<FileReading | null> {
  const upload = await requireUpload(db, id)
  const { reading } = upload
  if (reading === null || reading.format === 'rows') return null
  const { rows } = await db.query<{ options: FileOptions }>(
    'select options from iu_core.v_ingest_upload where upload_id = $1',
    [id],
  )
  const options = rows[0]?.options ?? {}
  const dataset = await requireDataset(db, upload.dataset, upload.platform)
  const matched = matchedValues(upload, reading, options, dataset)
  return {
    upload_id: id,
    columns: columnsOf(upload, reading, options, dataset),
    values: matched.slice(0, MAX_VALUES),
    more_values: Math.max(0, matched.length - MAX_VALUES),
    options: optionsOf(reading, options),
    defaults: defaultsOf(reading, dataset),
    without: (options.without ?? []).map((field) => titleOf(dataset, field)),
  }
}

type Reading = NonNullable<Upload['reading']>

function columnsOf(
  { uploaded_by }: Upload,
  { headers, map, remembered }: Reading,
  { headers: chosen = {} }: FileOptions,
  dataset: Dataset,
): FileReading['columns'] {
  const fieldOf = new Map<number, string>()
  for (const [field, { column, duplicates }] of Object.entries(map.fields))
    for (const one of [column, ...duplicates]) fieldOf.set(one, field)
  return headers.map((header, column) => {
    const field = fieldOf.get(column) ?? null
    const choice = rememberedField({ headers: chosen }, header)
    const author = remembered?.headers[header]
    const how =
      choice !== undefined ? 'chosen' : author !== undefined ? 'remembered' : field !== null ? 'name' : null
    return {
      header,
      field,
      title: field === null ? null : titleOf(dataset, field),
      ignored: field === null && (how === 'chosen' || how === 'remembered'),
      how,
      by: how === 'chosen' ? uploaded_by : author || null,
    }
  })
}

function matchedValues(
  { uploaded_by }: Upload,
  { values, matched = {}, remembered }: Reading,
  { values: chosen = {} }: FileOptions,
  dataset: Dataset,
): FileReading['values'][number][] {
  return Object.entries(matched).flatMap(([field, lines]) =>
    Object.entries(lines).map(([value, count]) => {
      const isChosen = chosen[field] !== undefined && Object.hasOwn(chosen[field], value)
      return {
        field,
        title: titleOf(dataset, field),
        value,
        meaning: values[field]?.[value] ?? null,
        lines: count,
        how: isChosen ? ('chosen' as const) : ('remembered' as const),
        by: isChosen ? uploaded_by : (remembered?.values[field] ?? null),
      }
    }),
  )
}

const STYLE_TEXTS = {
  dot: 'a point: 1,234.50',
  comma: 'a comma: 1.234,50',
  dmy: 'day first: 31/12/2026',
  mdy: 'month first: 12/31/2026',
  mixed: 'both ways in one file: a value that reads two ways is invalid',
  unknown: 'nothing in the file shows it: a value that reads two ways is invalid',
}

function optionsOf(reading: Reading, given: FileOptions): FileReading['options'] {
  const { format, encoding, delimiter, header_line, sheet, styles } = reading
  const recalled = (option: RememberedOption) => reading.recalled?.options.includes(option) === true
  const how = (isGiven: boolean, option?: RememberedOption) =>
    isGiven
      ? { how: 'chosen' as const }
      : option !== undefined && recalled(option)
        ? { how: 'remembered' as const, change: reading.recalled?.change ?? null }
        : { how: 'detected' as const }
  const style = (kind: 'decimal' | 'dates') => {
    const isOpen = styles[kind] === 'mixed'
    return {
      option: kind,
      value: STYLE_TEXTS[styles[kind]],
      ...(given[kind] === undefined && isOpen
        ? { how: 'open' as const }
        : how(given[kind] !== undefined, kind)),
    }
  }
  const isText = delimiter !== null
  return [
    { option: 'format', value: format, ...how(given.format !== undefined) },
    ...(sheet === undefined
      ? [{ option: 'encoding' as const, value: encoding, ...how(given.encoding !== undefined, 'encoding') }]
      : [{ option: 'sheet' as const, value: sheet, ...how(given.sheet !== undefined) }]),
    ...(isText
      ? [
          {
            option: 'delimiter' as const,
            value: delimiterText(delimiter),
            ...how(given.delimiter !== undefined, 'delimiter'),
          },
        ]
      : []),
    ...(given.columns
      ? [{ option: 'columns' as const, value: given.columns.join(', '), how: 'chosen' as const }]
      : header_line > 0 && (isText || sheet !== undefined)
        ? [
            {
              option: 'header_line' as const,
              value: String(header_line),
              ...how(given.headerLine !== undefined, 'header_line'),
            },
          ]
        : []),
    ...(isText ? [style('decimal')] : []),
    style('dates'),
  ]
}

function delimiterText(delimiter: string): string {
  const names: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' }
  return names[delimiter] ?? delimiter
}

/** Of fields that the file has no column for. */
function defaultsOf({ map, headers }: Reading, dataset: Dataset): FileReading['defaults'] {
  const known = new Set(headers.map(headerKey))
  return Object.entries(dataset.fields).flatMap(([field, { default: value, compute, join }]) =>
    value === undefined || compute !== undefined || join || map.fields[field] || known.has(headerKey(field))
      ? []
      : [{ field, title: titleOf(dataset, field), value }],
  )
}
