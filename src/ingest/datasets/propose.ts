/**
 * A dataset for a table of the user, proposed from the table's catalogue and the profile of a file: which column of the file
 * goes where, as what type, the key, the lookups, and what is left to the database. Each decision has a certainty; what is
 * uncertain is a question, and without an answer it is not used, and listed.
 */

import type { SampledProfile } from '../profile-file.ts'
import {
  type LookupColumn,
  MAX_SAMPLE,
  type TableCatalogue,
  type TableColumn,
  type TableReference,
} from './catalogue.ts'
import type { FieldDeclaration, FieldType, Lookup, RowTypeDeclaration } from './dataset.ts'
import { percentForm, separatorsIn, styleQuestions, valueDoubt } from './doubts.ts'
import { headerKey } from './header-key.ts'
import { type Candidate, type ColumnMatch, matchColumns, valuesFit } from './match-columns.ts'
import {
  type Answers,
  columnFieldType,
  isSurrogate,
  type Obstacle,
  type Pair,
  type Proposal,
  type ProposedColumn,
  type Question,
  setOption,
  TYPES,
} from './proposal.ts'
import { chooseKey } from './propose-key.ts'
import { hasForm } from './value-patterns.ts'

export function proposeDataset(
  table: TableCatalogue,
  profile: SampledProfile,
  answers: Answers = {},
): Proposal {
  const pairs = withDoubts(matchTable(table, profile, answers), table, profile, answers)
  const accepted = pairs.filter(({ column, certainty }) => column && certainty !== 'uncertain')
  const key = chooseKey(table, profile, pairs, answers.key)
  const taken = accepted.filter(({ column }) => isWritten(column!, key.columns))
  const names = fieldNames(taken.map(({ column }) => column!.name))
  const lookups: Record<string, Lookup> = {}
  const fields: Record<string, FieldDeclaration> = {}
  const columns: Record<string, string> = {}
  const notes = new Map<number, string>()
  const questions: Question[] = []
  for (const [index, pair] of taken.entries()) {
    const name = names[index]!
    const made = makeField(pair, table, profile, answers, lookups)
    fields[name] = made.field
    columns[pair.column!.name] = name
    notes.set(pair.index, made.as)
    questions.push(...made.questions)
  }
  const proposed = pairs.map((pair) =>
    describe(pair, profile, notes.get(pair.index) ?? null, taken.includes(pair)),
  )
  const filled = new Set(Object.keys(columns))
  const row: RowTypeDeclaration = {
    name: rowName(table.name),
    target: table.table,
    key: [...key.columns],
    columns,
  }
  return {
    dataset: {
      name: answers.name ?? slug(table.name),
      title: titleOf(table),
      fields,
      ...(Object.keys(lookups).length > 0 && { lookups }),
      rows: [row],
    },
    columns: proposed,
    left: leftColumns(table, filled),
    missing: missingColumns(table, filled),
    questions: [...key.questions, ...columnQuestions(pairs, proposed, table), ...onlyOneOfEach(questions)],
    obstacles: [...kindObstacles(table), ...key.obstacles],
  }
}

// Which column is which.

const CONFIRMED = 'your choice'

function matchTable(table: TableCatalogue, profile: SampledProfile, { map = {} }: Answers): Pair[] {
  const given = new Map(Object.entries(map).map(([header, column]) => [headerKey(header), column]))
  const chosen = new Set([...given.values()])
  const open = profile.columns.flatMap(({ header }, index) => (given.has(headerKey(header)) ? [] : [index]))
  const free = table.columns.filter((column) => isFillable(column) && !chosen.has(column.name))
  const matches = matchColumns(
    open.map((index) => ({
      header: profile.columns[index]!.header,
      values: profile.samples[index]!,
      unique: profile.columns[index]!.unique,
    })),
    free.map((column) => candidateOf(column, table)),
    { context: table.name },
  )
  const byIndex = new Map<number, ColumnMatch>(open.map((index, at) => [index, matches[at]!]))
  const byName = new Map(table.columns.map((column) => [column.name, column]))
  const pairs = profile.columns.map(({ header }, index): Pair => {
    const values = profile.samples[index]!
    const match = byIndex.get(index)
    if (match) {
      const { candidate, certainty, reasons, others } = match
      const column = candidate === null ? null : byName.get(candidate)!
      return {
        index,
        header,
        column,
        certainty,
        reasons,
        others: others.map((other) => other.candidate),
        values,
      }
    }
    const column = given.get(headerKey(header))
    const found = column == null ? null : (byName.get(column) ?? null)
    return {
      index,
      header,
      column: found,
      certainty: found ? 'sure' : 'none',
      reasons: [CONFIRMED],
      others: [],
      values,
      confirmed: true,
    }
  })
  return askByType(pairs, table, free).map((pair) =>
    isWorthAsking(pair, profile) ? pair : { ...pair, column: null, certainty: 'none' },
  )
}

/** A column without any value is not asked about: an answer would change nothing. */
function isWorthAsking({ certainty, values }: Pair, { lines }: SampledProfile): boolean {
  return certainty !== 'uncertain' || values.length > 0 || lines === 0
}

/**
 * Columns of the file that no name was found for, where their values leave one place: a column that must have a value, or the only
 * one of the type. That is no reason to take them, but one to ask.
 */
function askByType(pairs: readonly Pair[], table: TableCatalogue, free: readonly TableColumn[]): Pair[] {
  const taken = new Set(pairs.map(({ column }) => column?.name))
  const places = free.filter(
    (column) => !taken.has(column.name) && !isSetByDatabase(column) && !referenceOf(column, table),
  )
  const open = pairs.filter(({ column, confirmed }) => column === null && !confirmed)
  const fits = (pair: Pair, column: TableColumn) => valuesFit(pair.values, columnFieldType(column)) === 'yes'
  const asked = new Map<Pair, TableColumn[]>()
  for (const pair of open) {
    const fitting = places.filter((column) => fits(pair, column))
    const required = fitting.filter(isRequired)
    const isOnly = fitting.length === 1 && open.filter((other) => fits(other, fitting[0]!)).length === 1
    if (required.length > 0) asked.set(pair, required)
    else if (isOnly) asked.set(pair, fitting)
  }
  return pairs.map((pair) => {
    const [column, ...others] = asked.get(pair) ?? []
    if (!column) return pair
    const names = others.map(({ name }) => name)
    return { ...pair, column, certainty: 'uncertain', reasons: ['values fit the type'], others: names }
  })
}

/** A match is used only if its values leave nothing open. */
function withDoubts(
  pairs: readonly Pair[],
  table: TableCatalogue,
  profile: SampledProfile,
  answers: Answers,
): Pair[] {
  return pairs.map((pair) => {
    const { column, certainty } = pair
    if (!column || certainty === 'uncertain' || referenceOf(column, table)) return pair
    const doubt = valueDoubt({ pair, column, profile, samples: table.samples[column.name] ?? [], answers })
    return doubt ? { ...pair, certainty: 'uncertain', doubt } : pair
  })
}

/** A generated column is computed from others, and bytes are in no file of cells. */
function isFillable({ generated, base }: TableColumn): boolean {
  return !generated && !['bytea', 'tsvector', 'tsquery'].includes(base)
}

function candidateOf(column: TableColumn, table: TableCatalogue): Candidate {
  const reference = referenceOf(column, table)
  const short = column.name.replace(/(?:_?(?:id|fk|code|key)|Id|ID)$/u, '')
  const aliases = [
    ...(column.comment !== null && column.comment.length <= 40 ? [column.comment] : []),
    ...(reference && short !== '' && short !== column.name ? [short] : []),
    ...(reference ? reference.lookups.map((lookup) => `${short || column.name} ${lookup.column}`) : []),
  ]
  const accepts = reference
    ? [...reference.lookups.flatMap(({ values }) => values), ...(table.samples[column.name] ?? [])]
    : (column.labels ?? undefined)
  return {
    name: column.name,
    aliases,
    type: reference && accepts!.length > 0 ? undefined : columnFieldType(column),
    ...(accepts && accepts.length > 0 && { accepts }),
    ...(reference &&
      isWholeList(reference) && { acceptsNoOther: true as const, ids: columnFieldType(column) }),
    surrogate: isSurrogate(column),
    allSampled: (table.samples[column.name]?.length ?? 0) < MAX_SAMPLE,
    ...(table.samples[column.name] && { samples: table.samples[column.name] }),
    required: isRequired(column),
    unique: table.keys.some(({ columns }) => columns.length === 1 && columns[0] === column.name),
  }
}

/** Every name by which a row can be found is known. */
function isWholeList({ lookups }: TableReference): boolean {
  return lookups.some(({ values }) => values.length > 0) && lookups.every(({ truncated }) => !truncated)
}

function referenceOf({ name }: TableColumn, { references }: TableCatalogue): TableReference | undefined {
  return references.find(({ columns }) => columns.length === 1 && columns[0] === name)
}

function isRequired(column: TableColumn): boolean {
  return column.notNull && column.default === null && column.identity === null && !column.generated
}

/** By a sequence or a function such as now(). */
function isSetByDatabase(column: TableColumn): boolean {
  return isSurrogate(column) || /\(|current_/i.test(column.default ?? '')
}

/** Ids that the database gives are written only as the key. */
function isWritten(column: TableColumn, key: readonly string[]): boolean {
  return key.includes(column.name) || !isSurrogate(column)
}

// What is no table.

const KIND_REMEDIES: Partial<Record<TableCatalogue['kind'], string>> = {
  view: 'Name the table that the view reads from.',
  'materialized view': 'Name a table that the view reads from; then refresh the view.',
  foreign: 'Create a table of this database and bring the rows there: a foreign table has no unique key.',
}

function kindObstacles({ table, kind }: TableCatalogue): Obstacle[] {
  if (kind === 'table' || kind === 'partitioned') return []
  return [
    {
      problem: `${table} is a ${kind}${kind === 'foreign' ? ' table' : ''}, not a table`,
      remedy: KIND_REMEDIES[kind] ?? null,
    },
  ]
}

// Fields.

interface MadeField {
  field: FieldDeclaration
  as: string
  questions: Question[]
}

function makeField(
  pair: Pair,
  table: TableCatalogue,
  profile: SampledProfile,
  answers: Answers,
  lookups: Record<string, Lookup>,
): MadeField {
  const { header, values, index } = pair
  const { zone } = answers
  const column = pair.column!
  const aliases = [header]
  const required = isRequired(column) || undefined
  const reference = referenceOf(column, table)
  const lookup = reference && lookupFor(column, reference, values)
  if (reference && lookup) {
    const found: Lookup = {
      table: reference.table,
      by: lookup.column,
      value: reference.referenced[0]!,
      ...(lookup.ignoreCase && { ignoreCase: true as const }),
    }
    const table = slug(reference.table.replace(/^.*\./, '').replaceAll('"', ''))
    // Two columns may refer to one table in different ways.
    const isOther = lookups[table] !== undefined && JSON.stringify(lookups[table]) !== JSON.stringify(found)
    const name = isOther ? slug(`${table}_${lookup.column}`) : table
    lookups[name] = found
    // `category_id` is the id; people name the category.
    const title = column.name.replace(/_?id$/i, '').replaceAll('_', ' ').trim() || undefined
    const field = omitEmpty({ type: 'text' as const, title, aliases, required, lookup: name })
    return { field, as: `looked up in ${reference.table} by ${lookup.column}`, questions: [] }
  }
  const found = fieldType(column, profile.columns[index]!.type, values)
  const samples = table.samples[column.name] ?? []
  const hasPercents =
    columnFieldType(column) === 'decimal' && values.some((value) => hasForm(value, 'percent'))
  const form = hasPercents ? percentForm({ pair, column, samples, answers }) : undefined
  // 80 % as 80: the sign is cut off.
  const isPoints = form === 'points'
  const type = isPoints ? 'decimal' : form === 'fraction' ? 'percent' : found
  const field = omitEmpty<FieldDeclaration>({
    type,
    aliases,
    required,
    ...(['text', 'email', 'url'].includes(type) && { maxLength: column.maxLength ?? undefined }),
    ...(isNumber(type) && type !== 'integer' && { scale: scaleOf(column), precision: precisionOf(column) }),
    ...(type === 'enum' && { values: enumValues(column.labels!, values) }),
    ...(type === 'array' && arrayTraits(column, values, answers.separators?.[column.name])),
    ...(isPoints && { replace: [{ pattern: '\\s*%\\s*$', with: '' }] }),
  })
  const needsZone = type === 'timestamptz' && profile.columns[index]!.type !== 'timestamptz'
  if (needsZone && zone !== undefined) field.zone = zone
  const questions = styleQuestions(pair, type, profile, answers)
  if (needsZone && zone === undefined)
    questions.push({
      about: 'zone',
      header,
      text: `“${header}” has times without a time zone, and ${column.name} is a timestamp with one. Whose time is it?`,
      choices: [],
      option: '--zone Europe/Berlin',
    })
  const separator = type === 'array' ? ` separated by ${JSON.stringify(field.separator ?? ',')}` : ''
  return { field, as: `${type}${separator}`, questions }
}

/** PostgreSQL allows more digits than a field can say. */
function scaleOf({ scale, precision }: TableColumn): number | undefined {
  return precision === null || scale === null || scale < 0 || scale > 9 ? undefined : scale
}

/** With a negative scale a number has more digits than the precision says. */
function precisionOf({ scale, precision }: TableColumn): number | undefined {
  return precision === null || (scale ?? 0) < 0 ? undefined : precision
}

function isNumber(type: FieldType): boolean {
  return type === 'decimal' || type === 'money' || type === 'percent' || type === 'integer'
}

/** The column says what it is; the file may say it more narrowly: amounts with a currency, addresses of mail. */
function fieldType(column: TableColumn, found: FieldType, values: readonly string[]): FieldType {
  const type = columnFieldType(column)
  if (type === 'decimal' && (found === 'money' || found === 'percent')) return found
  if (type === 'decimal' && column.scale !== null && column.scale <= 0) return 'integer'
  if (type === 'text' && found === 'email' && valuesFit(values, 'email') === 'yes') return 'email'
  return type
}

/** Each label with the spellings of the file that mean it and differ by more than case and blanks. */
function enumValues(labels: readonly string[], values: readonly string[]): Record<string, string[]> {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[\s_]+/g, ' ')
      .trim()
  return Object.fromEntries(
    labels.map((label) => [
      label,
      values.filter((value) => headerKey(value) === headerKey(label) && plain(value) !== plain(label)),
    ]),
  )
}

/** Cells with several separators are asked about (doubts.ts). */
function arrayTraits(
  column: TableColumn,
  values: readonly string[],
  separator = separatorsIn(values)[0] ?? ',',
): Pick<FieldDeclaration, 'items' | 'separator'> {
  const items = TYPES[column.items!] ?? 'text'
  return {
    ...(items !== 'text' && items !== 'json' && { items: items as Exclude<FieldType, 'array' | 'json'> }),
    separator,
  }
}

const MIN_LOOKED_UP = 0.5

/** The unique text column of the table that is referred to in which the file's values are; none where they are its ids. */
function lookupFor(
  column: TableColumn,
  { lookups }: TableReference,
  values: readonly string[],
): { column: string; ignoreCase: boolean } | undefined {
  const type = columnFieldType(column)
  if (values.length === 0) return undefined
  const rated = lookups
    .map((lookup) => ({ lookup, ...shareFound(lookup, values) }))
    .sort((a, b) => b.share - a.share)
  const best = rated[0]
  if (best && best.share >= MIN_LOOKED_UP) return { column: best.lookup.column, ignoreCase: best.ignoreCase }
  // Nothing to compare with: the values are no ids, so they are names.
  const areIds = type === 'text' ? best === undefined || best.share === 0 : valuesFit(values, type) !== 'no'
  return areIds || !best ? undefined : { column: best.lookup.column, ignoreCase: false }
}

function shareFound(
  { values: known }: LookupColumn,
  values: readonly string[],
): { share: number; ignoreCase: boolean } {
  const exact = new Set(known)
  const lower = new Set(known.map((value) => value.toLowerCase()))
  const same = values.filter((value) => exact.has(value)).length
  const alike = values.filter((value) => lower.has(value.toLowerCase())).length
  return { share: alike / values.length, ignoreCase: alike > same }
}

function omitEmpty<T extends object>(given: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

// What is said about it.

function describe(pair: Pair, profile: SampledProfile, as: string | null, isTaken: boolean): ProposedColumn {
  const { header, column, certainty, reasons, others, index } = pair
  return {
    header,
    column: column?.name ?? null,
    certainty,
    reasons,
    examples: profile.columns[index]!.examples,
    as: column && !isTaken && certainty !== 'uncertain' ? 'left to the database' : as,
    others,
    ...(column && !isTaken && certainty !== 'uncertain' && { leftToDatabase: true as const }),
    ...(!column && pair.confirmed && { ignored: true as const }),
  }
}

function columnQuestions(
  pairs: readonly Pair[],
  columns: readonly ProposedColumn[],
  { columns: all }: TableCatalogue,
): Question[] {
  const free = new Set(all.filter(isFillable).map(({ name }) => name))
  for (const { column, certainty } of columns) if (column && certainty !== 'uncertain') free.delete(column)
  return columns.flatMap(({ header, column, others, examples, certainty }, index): Question[] => {
    if (!column || certainty !== 'uncertain') return []
    const { doubt } = pairs[index]!
    if (doubt) return [doubt]
    return [
      {
        about: 'column',
        header,
        column,
        text: `What is “${header}”${examples.length > 0 ? ` (${examples.join(', ')})` : ''}?`,
        choices: [...new Set([column, ...others])].filter((name) => free.has(name)),
        option: `--set ${setOption(header, column)}`,
      },
    ]
  })
}

/** One answer about the zone, or how the file writes dates and numbers, holds for all columns. */
function onlyOneOfEach(questions: readonly Question[]): Question[] {
  return questions.filter(
    ({ about }, index) => questions.findIndex((other) => other.about === about) === index,
  )
}

function leftColumns({ columns }: TableCatalogue, filled: ReadonlySet<string>): Proposal['left'] {
  return columns
    .filter(({ name }) => !filled.has(name))
    .flatMap((column): Proposal['left'][number][] => {
      const { name, identity, generated, default: fallback, notNull } = column
      if (identity) return [{ column: name, why: `identity (${identity})` }]
      if (generated) return [{ column: name, why: 'generated' }]
      if (fallback !== null) return [{ column: name, why: `default ${fallback}` }]
      return notNull ? [] : [{ column: name, why: null }]
    })
}

function missingColumns({ columns }: TableCatalogue, filled: ReadonlySet<string>): string[] {
  return columns.filter((column) => isRequired(column) && !filled.has(column.name)).map(({ name }) => name)
}

function titleOf({ name, comment }: TableCatalogue): string {
  if (comment !== null && comment.length <= 60) return comment
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const MAX_NAME = 63

/** A name as declarations allow it: `Order lines` → order_lines. */
export function slug(name: string): string {
  const plain = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_NAME)
  return /^[a-z]/.test(plain) ? plain : `f_${plain}`.slice(0, MAX_NAME)
}

function fieldNames(columns: readonly string[]): string[] {
  const taken = new Set<string>()
  return columns.map((column) => {
    const wanted = slug(column)
    let name = wanted
    for (let count = 2; taken.has(name); count++) name = `${wanted.slice(0, MAX_NAME - 4)}_${count}`
    taken.add(name)
    return name
  })
}

const RESERVED = new Set(['client', 'workspace', 'platform', 'identity'])

/** One row of the table: products → product. */
function rowName(table: string): string {
  const name = slug(table)
  const one = name.endsWith('ies') ? `${name.slice(0, -3)}y` : /[^su]s$/.test(name) ? name.slice(0, -1) : name
  return RESERVED.has(one) ? `${one}_row`.slice(0, MAX_NAME) : one
}
