/**
 * The key of a proposed dataset: the unique index by which a line of the file and a row of the table are the same thing. Where the
 * file fills several, evidence decides or a person is asked; where it fills none, the question is which of its columns is one.
 */
import { quoteName } from '../../kernel/postgres/names.ts'
import type { SampledProfile } from '../profile-file.ts'
import type { TableCatalogue, TableColumn, TableKey } from './catalogue.ts'
import { valuesFit } from './match-columns.ts'
import {
  columnFieldType,
  isSurrogate,
  type Obstacle,
  type Pair,
  type Question,
  setOption,
} from './proposal.ts'

interface ChosenKey {
  readonly columns: readonly string[]
  readonly questions: readonly Question[]
  readonly obstacles: readonly Obstacle[]
}

/** `given`: the columns that a person has named. */
export function chooseKey(
  table: TableCatalogue,
  profile: SampledProfile,
  pairs: readonly Pair[],
  given: readonly string[] | undefined,
): ChosenKey {
  const filled = new Map(
    pairs
      .filter(({ column, certainty }) => column && certainty !== 'uncertain')
      .map(({ column, index }) => [column!.name, index]),
  )
  const unique = given && table.keys.find(({ columns }) => sameNames(columns, given))
  if (given && !unique) return { columns: given, questions: [], obstacles: [noUniqueIndex(table, given)] }
  if (table.keys.length === 0)
    return { columns: [], questions: [], obstacles: [keyless(table, profile, filled)] }
  const keys = unique ? [{ ...unique, columns: given! }] : table.keys
  const fillable = keys
    .filter(({ columns }) => columns.every((name) => filled.has(name)))
    .map((key) => ({ ...key, rank: rankOf(key, table, profile, filled) }))
    .sort((a, b) => a.rank - b.rank || a.columns.length - b.columns.length)
  const best = fillable[0]
  if (!best) return askForKey(keys, table, profile, pairs, filled)
  const equals = fillable.filter(
    ({ rank, columns }) => Math.abs(rank - best.rank) < 1 && columns.length === best.columns.length,
  )
  const question: Question = {
    about: 'key',
    text: `Rows can be known by ${equals.map(({ columns }) => columns.join(' + ')).join(' or by ')}. Which is the key?`,
    choices: equals.map(({ columns }) => columns.join(',')),
    option: `--key ${equals[0]!.columns.join(',')}`,
  }
  return { columns: best.columns, questions: equals.length > 1 ? [question] : [], obstacles: [] }
}

/** The lower the likelier: a key that people know, different in every line, never NULL, and with values that the table has. */
function rankOf(
  key: TableKey,
  table: TableCatalogue,
  profile: SampledProfile,
  filled: ReadonlyMap<string, number>,
): number {
  const isPlain = key.columns.every((name) => columnOf(table, name).notNull) || key.nullsNotDistinct
  const only = key.columns.length === 1 ? filled.get(key.columns[0]!)! : undefined
  const repeats = only !== undefined && !profile.columns[only]!.unique
  const known = only !== undefined && shareKnown(table, key.columns[0]!, profile.samples[only]!) >= 0.5
  return (
    (isNatural(key, table) ? 0 : 8) +
    (repeats ? 4 : 0) +
    (known ? 0 : 2) +
    (isPlain ? 0 : 1) +
    (key.primary ? 0 : 0.5)
  )
}

function columnOf({ columns }: TableCatalogue, name: string): TableColumn {
  return columns.find((column) => column.name === name)!
}

function isNatural({ columns }: TableKey, table: TableCatalogue): boolean {
  return !columns.every((name) => isSurrogate(columnOf(table, name)))
}

/** Share of the file's values that rows of the table have in that column. */
function shareKnown({ samples }: TableCatalogue, name: string, values: readonly string[]): number {
  const known = new Set(samples[name] ?? [])
  return values.length === 0 ? 0 : values.filter((value) => known.has(value)).length / values.length
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && [...left].sort().join('\0') === [...right].sort().join('\0')
}

// A key that the file does not fill yet.

const MAX_HEADERS = 6

/** One column at a time: which column of the file is it? */
function askForKey(
  keys: readonly TableKey[],
  table: TableCatalogue,
  profile: SampledProfile,
  pairs: readonly Pair[],
  filled: ReadonlyMap<string, number>,
): ChosenKey {
  const natural = keys.filter((key) => isNatural(key, table))
  if (natural.length === 0)
    return { columns: [], questions: [], obstacles: [onlySurrogates(table, profile, pairs, filled)] }
  const rated = natural
    .map((key) => {
      const open = key.columns.filter((name) => !filled.has(name))
      const [column] = open
      const headers = headersFor(columnOf(table, column!), key.columns.length === 1, table, profile, pairs)
      return { key, column: column!, open, headers }
    })
    .sort((a, b) => a.open.length - b.open.length || Number(b.key.primary) - Number(a.key.primary))
  // Those with as few open columns; a key for which the file has nothing is left out where another has something.
  const nearest = rated.filter(({ open }) => open.length === rated[0]!.open.length)
  const possible = nearest.filter(({ headers }) => headers.length > 0)
  const asked = possible.length > 0 ? possible : nearest
  const names = asked.map(({ column }) => column)
  const isOne = asked.length === 1
  const others = asked[0]!.key.columns.filter((name) => name !== names[0])
  const role = others.length > 0 ? `part of the key with ${others.join(', ')}` : 'the key'
  const settings = asked.flatMap(({ column, headers }) => headers.map((header) => ({ header, column })))
  const unsettled = pairs.filter(({ column, certainty }) => !column || certainty === 'uncertain')
  const listed = (
    settings.length > 0 ? settings.map(({ header }) => header) : unsettled.map(({ header }) => header)
  ).slice(0, MAX_HEADERS)
  const first = settings[0] ?? { header: listed[0] ?? 'Header', column: names[0]! }
  const option = `--set ${setOption(first.header, first.column)}`
  const question: Question = {
    about: 'key column',
    ...(isOne && { column: names[0]! }),
    text: isOne
      ? `Which column of the file is ${names[0]}, ${role} of ${table.table}?`
      : `Rows of ${table.table} are known by ${names.join(' or by ')}, and the file is not known to have any of them. Which column is one?`,
    choices: isOne
      ? listed
      : settings.slice(0, MAX_HEADERS).map(({ header, column }) => `${header}=${column}`),
    option,
  }
  const evidence =
    settings.length > 0
      ? `filled and different in every line: ${[...new Set(listed)].join(', ')}`
      : `no open column of the file is filled and different in every line${listed.length > 0 ? `; open are: ${listed.join(', ')}` : ''}`
  const obstacle: Obstacle = {
    problem: `no column of the file is known to be ${names.join(' or ')}, ${isOne ? role : 'a key'} of ${table.table}`,
    remedy: `Say which column it is: ${option} (${evidence}).`,
  }
  return { columns: asked[0]!.key.columns, questions: [question], obstacles: [obstacle] }
}

/** Columns of the file that can be that key column, the likeliest first. */
function headersFor(
  column: TableColumn,
  isWhole: boolean,
  table: TableCatalogue,
  profile: SampledProfile,
  pairs: readonly Pair[],
): string[] {
  const type = columnFieldType(column)
  const rankOfHeader = new Map(profile.keys.flatMap((key, rank) => key.map((header) => [header, rank])))
  const rated = pairs.flatMap((pair) => {
    const { header, index, values } = pair
    const { unique, nulls } = profile.columns[index]!
    if (isWhole ? !unique : nulls > 0) return []
    if (pair.confirmed || (pair.column && pair.certainty === 'sure')) return []
    if (valuesFit(values, type) === 'no') return []
    const isProposed = pair.column?.name === column.name
    const isTaken = pair.column !== null && pair.certainty !== 'uncertain'
    const known = shareKnown(table, column.name, values)
    const rank =
      (isProposed ? -4 : 0) - 2 * known + (isTaken ? 8 : 0) + (rankOfHeader.get(header) ?? 20) / 100
    return [{ header, rank, isTaken }]
  })
  const open = rated.some(({ isTaken }) => !isTaken) ? rated.filter(({ isTaken }) => !isTaken) : rated
  return open.sort((a, b) => a.rank - b.rank).map(({ header }) => header)
}

function onlySurrogates(
  table: TableCatalogue,
  profile: SampledProfile,
  pairs: readonly Pair[],
  filled: ReadonlyMap<string, number>,
): Obstacle {
  const [id] = table.keys[0]!.columns
  const [header] = headersFor(columnOf(table, id!), true, table, profile, pairs)
  const key = likelyKey(profile, filled)
  const ways = [
    `If a column of the file has those ids, name it: --set ${setOption(header ?? 'Header', id!)}.`,
    ...(key
      ? [`If ${key.join(' + ')} tells rows apart, make it a key: ${noUniqueIndex(table, key).remedy}`]
      : ['Else create a unique index over the columns that tell rows apart.']),
  ]
  return {
    problem: `the database fills the only unique key of ${table.table}, ${id}, and no column of the file is known to be it`,
    remedy: ways.join('\n'),
  }
}

// A key that the table does not have.

function noUniqueIndex({ table }: TableCatalogue, key: readonly string[]) {
  return {
    problem: `${table} has no unique index over ${key.join(', ')}`,
    remedy: `create unique index on ${table} (${key.map(quoteName).join(', ')});`,
  }
}

/** The likely keys of the file, as columns of the table. */
function likelyKey(profile: SampledProfile, filled: ReadonlyMap<string, number>): string[] | undefined {
  const nameOf = new Map([...filled].map(([column, index]) => [profile.columns[index]!.header, column]))
  return profile.keys
    .find((key) => key.every((header) => nameOf.has(header)))
    ?.map((header) => nameOf.get(header)!)
}

function keyless(
  table: TableCatalogue,
  profile: SampledProfile,
  filled: ReadonlyMap<string, number>,
): Obstacle {
  const key = likelyKey(profile, filled)
  return {
    problem: `${table.table} has no unique key, so its rows cannot be told apart`,
    remedy: key ? noUniqueIndex(table, key).remedy : null,
  }
}
