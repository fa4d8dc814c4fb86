/**
 * The header of a file: which column is which field of the dataset, which rows the file therefore holds, which currency a
 * header names, and which period the lines above it name.
 */

import { distance } from 'fastest-levenshtein'
import { StagedoorError } from '../../kernel/errors.ts'
import type { FileNote } from '../readers/format.ts'
import { fieldsRead } from './cel-sql.ts'
import { hasOwnColumn } from './compile-transforms.ts'
import { type Dataset, type FieldType, type RowType, titleOf } from './dataset.ts'
import { headerKey } from './header-key.ts'

export interface MappedField {
  column: number
  header: string
  type: FieldType
  micros?: true
  currency?: string
  /** A sign in the header that several currencies use, such as $. */
  sign?: string
  /** Further columns with the very same header. */
  duplicates: number[]
}

export interface HeaderMap {
  headers: string[]
  fields: Record<string, MappedField>
  /** Kept in the raw payload only. */
  unknown: { column: number; header: string }[]
  /** `nearest` would be the field `means`. */
  missing: { field: string; title: string; nearest?: string; means?: string }[]
  /** Row types that the file holds, in dependency order; the last is the leaf. */
  rowTypes: string[]
  leaf: string
  notes: FileNote[]
}

export interface RememberedMapping {
  /** Header → field; null: the column is ignored. */
  headers?: Record<string, string | null>
}

interface Claim {
  field: string
  rank: number
  micros?: true
}

export function mapHeaders(
  dataset: Dataset,
  platform: string,
  headers: string[],
  remembered: RememberedMapping = {},
): HeaderMap {
  const columns = headers.map((header, column) => ({ header, column, ...claimsOf(header) }))
  const fields: Record<string, MappedField> = {}
  const ranks: Record<string, number> = {}
  const passedOver: { header: string; field: string }[] = []
  const left = new Set<number>()

  // Headers of one field first: they show which row types the file holds, which settles the shared ones.
  for (const wanted of ['own', 'shared'] as const) {
    for (const entry of columns) {
      if (entry.claims.length === 0 || (wanted === 'own') !== (entry.claims.length === 1)) continue
      const claim = wanted === 'own' ? entry.claims[0]! : deepest(entry.claims)
      if (claim) take(entry, claim)
    }
  }

  const taken = new Set(Object.values(fields).flatMap((field) => [field.column, ...field.duplicates]))
  const unknown = columns
    .filter(({ column, claims }) => !taken.has(column) && !left.has(column) && claims.length === 0)
    .map(({ column, header }) => ({ column, header }))
  const rows = rowTypesIn(dataset, fields)
  const leaf = rows.at(-1)?.name ?? ''
  return {
    headers,
    fields,
    unknown,
    missing: missingFields({ dataset, platform, fields, rows, unknown }),
    rowTypes: rows.map((row) => row.name),
    leaf,
    notes: [
      ...platformNotes(dataset, platform, headers, remembered),
      ...notesOn({ dataset, fields, rows, unknown, passedOver }),
    ],
  }

  function claimsOf(header: string): { claims: Claim[]; currency?: string; sign?: string } {
    const chosen = rememberedField(remembered, header)
    if (chosen === null) return { claims: [] }
    const split = splitCurrency(header)
    if (chosen !== undefined && dataset.fields[chosen] && hasOwnColumn(dataset.fields[chosen])) {
      const known = claimsFor(headerKey(header)).find((claim) => claim.field === chosen)
      return {
        claims: [{ field: chosen, rank: -1, ...(known?.micros ? { micros: true as const } : {}) }],
        ...(split?.currency ? { currency: split.currency } : {}),
        ...(split?.sign ? { sign: split.sign } : {}),
      }
    }
    const whole = claimsFor(headerKey(header))
    if (whole.length > 0 || !split) return { claims: whole }
    const money = claimsFor(headerKey(split.name)).filter(
      ({ field }) => dataset.fields[field]?.type === 'money',
    )
    return {
      claims: money,
      ...(split.currency ? { currency: split.currency } : {}),
      ...(split.sign ? { sign: split.sign } : {}),
    }
  }

  function claimsFor(key: string): Claim[] {
    return claimsByKey(dataset, platform).get(key) ?? []
  }

  function deepest(claims: Claim[]): Claim | undefined {
    const present = rowTypesIn(dataset, fields)
    for (const row of present.toReversed()) {
      const claim = claims.find(({ field }) => Object.values(row.columns).includes(field))
      if (claim) return claim
    }
    return claims[0]
  }

  function take(entry: (typeof columns)[number], claim: Claim): void {
    const { field, rank } = claim
    const before = fields[field]
    if (before && headerKey(before.header) === headerKey(entry.header)) {
      before.duplicates.push(entry.column)
      return
    }
    if (before && ranks[field]! <= rank) {
      passedOver.push({ header: entry.header, field })
      return
    }
    if (before) passedOver.push({ header: before.header, field })
    ranks[field] = rank
    fields[field] = {
      column: entry.column,
      header: entry.header,
      type: dataset.fields[field]!.type,
      duplicates: [],
      ...(claim.micros ? { micros: true as const } : {}),
      ...(entry.currency ? { currency: entry.currency } : {}),
      ...(entry.sign ? { sign: entry.sign } : {}),
    }
  }
}

/** True for a header that the dataset knows: finds the header line below title lines. */
export function knownHeaderTest(
  dataset: Dataset,
  platform: string,
  remembered: RememberedMapping = {},
): (name: string) => boolean {
  const known = claimsByKey(dataset, platform)
  return (name) => {
    if (rememberedField(remembered, name) !== undefined) return true
    const split = splitCurrency(name)
    return known.has(headerKey(name)) || (split !== undefined && known.has(headerKey(split.name)))
  }
}

/** What of a file in JSON or Parquet is one value of a field of type json: its objects are not taken apart. */
export function jsonColumns(
  dataset: Dataset,
  platform: string,
  remembered: RememberedMapping = {},
): { keepsJson?: (name: string) => boolean } {
  const isJson = (field: string | null | undefined) =>
    field !== null && field !== undefined && dataset.fields[field]?.type === 'json'
  if (!Object.keys(dataset.fields).some(isJson)) return {}
  const known = claimsByKey(dataset, platform)
  const answers = new Map<string, boolean>()
  return {
    keepsJson: (name) => {
      const before = answers.get(name)
      if (before !== undefined) return before
      const chosen = rememberedField(remembered, name)
      const answer =
        chosen === undefined
          ? (known.get(headerKey(name)) ?? []).some(({ field }) => isJson(field))
          : isJson(chosen)
      // A file may have as many names as it has values.
      if (answers.size < MAX_ANSWERS) answers.set(name, answer)
      return answer
    },
  }
}

const MAX_ANSWERS = 10_000

/** Refuses a file that lacks columns, unless `given` fields come from elsewhere (a date line above the header). */
export function requireColumns(
  dataset: Dataset,
  platform: string,
  map: HeaderMap,
  given: readonly string[] = [],
): void {
  const missing = map.missing.filter(({ field }) => !given.includes(field))
  if (dataset.unknownColumns === 'refuse' && map.unknown.length > 0) {
    const names = map.unknown.map(({ header }) => `“${header}”`)
    throw new StagedoorError('argument_invalid', {
      reason: `${dataset.title} takes no columns it does not know, and the file has ${names.join(', ')}`,
    })
  }
  if (missing.length === 0) return
  throw new StagedoorError(
    'upload_columns_missing',
    {
      missing: missing.map(({ title, nearest }) => (nearest ? `${title} (is it “${nearest}”?)` : title)),
      headers: map.headers,
    },
    { hint: mapHint(dataset, platform, map, missing[0]!) + withoutHint(dataset, map, missing) },
  )
}

/** Under another name it would be loaded as if there were none: which column is it? */
function withoutHint(dataset: Dataset, { unknown }: HeaderMap, missing: HeaderMap['missing']): string {
  const expected = missing.map(({ field }) => field).filter((field) => dataset.fields[field]?.expected)
  if (expected.length === 0) return ''
  const candidates = unknown.slice(0, MAX_HEADERS_LISTED).map(({ header }) => `“${header}”`)
  const which = candidates.length > 0 ? ` Columns that are not known: ${candidates.join(', ')}.` : ''
  return `${which} If the export really has none, say so: \`--without ${expected.join(',')}\`.`
}

const MAX_HEADERS_LISTED = 20

/** What the file has, and the whole command that says what one of its headers means. */
function mapHint(
  dataset: Dataset,
  platform: string,
  { headers }: HeaderMap,
  { field, nearest, means = field }: HeaderMap['missing'][number],
): string {
  const shown = headers.slice(0, MAX_HEADERS_LISTED).map((header) => `“${header}”`)
  const more = headers.length > MAX_HEADERS_LISTED ? ` and ${headers.length - MAX_HEADERS_LISTED} more` : ''
  // A header that is not like the field is no suggestion: copied, the command would map the wrong header.
  const header = nearest === undefined ? 'HEADER' : nearest.replace(/["$`\\]/g, '\\$&')
  const command = `stagedoor dataset map ${dataset.name} --platform ${platform} --set "${header}=${means}" --as operator`
  const other = otherPlatform(dataset, platform, headers)
  return `The file has ${shown.join(', ')}${more}. ${other === undefined ? '' : `${other.text}. `}Check the dataset and the platform, add the column to the export, or say which header means it and bring the file again: \`${command}\`.`
}

/** The row types whose fields are there. Facts before the leaf are left out: a line is one fact. */
function rowTypesIn(dataset: Dataset, fields: Record<string, MappedField>): RowType[] {
  const present = dataset.rows.filter((row) => row.requires.every((need) => isIn(need)))
  return present.filter((row, index) => row.identity !== undefined || index === present.length - 1)

  function isIn(need: string): boolean {
    return need.split('|').some((name) => hasField(dataset, fields, name))
  }
}

function hasField(dataset: Dataset, fields: Record<string, MappedField>, name: string): boolean {
  if (fields[name]) return true
  const { join, compute, period } = dataset.fields[name] ?? {}
  if (join) return join.fields.some((other) => fields[other])
  if (compute !== undefined)
    return fieldsRead(compute).every((other) => other !== name && hasField(dataset, fields, other))
  return period !== undefined && fields[period.start] !== undefined && fields[period.end] !== undefined
}

/** What was said about a header: its field, null to ignore the column, undefined where nothing was. */
export function rememberedField(remembered: RememberedMapping, header: string): string | null | undefined {
  const { headers = {} } = remembered
  // A file may have a header that every object has, such as `constructor`.
  if (Object.hasOwn(headers, header)) return headers[header]
  const entries = Object.entries(headers)
  if (entries.length === 0) return undefined
  const found = (key: string, keyOf: (name: string) => string) =>
    entries.find(([name]) => keyOf(name) === key)?.[1]
  const whole = found(headerKey(header), headerKey)
  if (whole !== undefined) return whole
  // `Cost (EUR)` of this month is `Cost (USD)` or `Cost` of the next.
  return found(keyWithoutCurrency(header), keyWithoutCurrency)
}

function keyWithoutCurrency(header: string): string {
  return headerKey(splitCurrency(header)?.name ?? header)
}

const claimCache = new WeakMap<Dataset, Map<string, Map<string, Claim[]>>>()

/** A field's own name comes first, then its aliases of the platform, then those of any platform. */
function claimsByKey(dataset: Dataset, platform: string): Map<string, Claim[]> {
  const cached = claimCache.get(dataset) ?? new Map<string, Map<string, Claim[]>>()
  claimCache.set(dataset, cached)
  const known = cached.get(platform)
  if (known) return known
  const claims = new Map<string, Claim[]>()
  for (const [field, declared] of Object.entries(dataset.fields)) {
    if (!hasOwnColumn(declared)) continue
    const aliases = [field, ...(declared.aliases[platform] ?? []), ...(declared.aliases.any ?? [])]
    for (const [rank, alias] of aliases.entries()) {
      const { header, micros } = typeof alias === 'string' ? { header: alias, micros: undefined } : alias
      const list = claims.get(headerKey(header)) ?? []
      if (!list.some((claim) => claim.field === field))
        list.push({ field, rank, ...(micros ? { micros } : {}) })
      claims.set(headerKey(header), list)
    }
  }
  cached.set(platform, claims)
  return claims
}

function missingFields(mapped: {
  dataset: Dataset
  platform: string
  fields: Record<string, MappedField>
  rows: RowType[]
  unknown: { header: string }[]
}): HeaderMap['missing'] {
  const { dataset, platform, fields, rows, unknown } = mapped
  const used = new Set(rows.flatMap((row) => Object.values(row.columns)))
  const needed = Object.keys(dataset.fields).filter(
    (name) =>
      (dataset.fields[name]!.required && (rows.length === 0 || used.has(name))) ||
      (dataset.fields[name]!.expected && used.has(name)),
  )
  const groups = rows.length === 0 ? (dataset.rows[0]?.requires ?? []) : []
  // What is joined or computed has no column of its own: those that it is made of are missing.
  const asked = [...groups, ...needed].flatMap((need) => {
    const { join, compute } = dataset.fields[need] ?? {}
    return join ? [join.fields.join('|')] : compute === undefined ? [need] : fieldsRead(compute)
  })
  const absent = [...new Set(asked)].filter(
    (need) => !need.split('|').some((name) => hasField(dataset, fields, name)),
  )
  return absent.map((need) => {
    const names = need.split('|')
    const nearest = nearestHeader(dataset, platform, names, unknown)
    return {
      field: names[0]!,
      title: names.map((name) => titleOf(dataset, name)).join(' or '),
      ...(nearest ? { nearest: nearest.header, means: nearest.field } : {}),
    }
  })
}

function nearestHeader(
  dataset: Dataset,
  platform: string,
  names: string[],
  unknown: { header: string }[],
): { header: string; field: string } | undefined {
  const known = [...claimsByKey(dataset, platform)].flatMap(([alias, claims]) => {
    const claim = claims.find(({ field }) => names.includes(field))
    return claim ? [{ alias, field: claim.field }] : []
  })
  let best: { header: string; field: string; away: number } | undefined
  for (const { header } of unknown) {
    const key = headerKey(header)
    for (const { alias, field } of known) {
      const away = relativeDistance(key, alias)
      if (away <= MAX_RELATIVE_DISTANCE && (!best || away < best.away)) best = { header, field, away }
    }
  }
  return best
}

function platformNotes(
  dataset: Dataset,
  platform: string,
  headers: readonly string[],
  remembered: RememberedMapping,
): FileNote[] {
  const other = otherPlatform(dataset, platform, headers, remembered)
  if (other === undefined) return []
  const known = other.headers.slice(0, MAX_HEADERS_LISTED).map((header) => `“${header}”`)
  return [
    {
      rule: 'header.other_platform',
      message: `${other.text}: it knows ${known.join(', ')}. If the platform is wrong, discard this upload and upload the file again with the right one.`,
    },
  ]
}

/** Another platform that knows more of the columns: then the file is probably an export of that one. `headers`: what only that one knows. */
function otherPlatform(
  dataset: Dataset,
  platform: string,
  headers: readonly string[],
  remembered: RememberedMapping = {},
): { text: string; headers: string[] } | undefined {
  const knownTo = (name: string) => headers.filter(knownHeaderTest(dataset, name, remembered))
  const here = knownTo(platform)
  const [best] = Object.keys(dataset.platforms)
    .map((name) => ({ name, known: knownTo(name) }))
    .sort((one, other) => other.known.length - one.known.length)
  if (best === undefined || best.known.length <= here.length) return
  return {
    text: `The columns look like those of the platform ${best.name}, not of ${platform}`,
    headers: best.known.filter((header) => !here.includes(header)),
  }
}

function notesOn(mapped: {
  dataset: Dataset
  fields: Record<string, MappedField>
  rows: RowType[]
  unknown: { header: string }[]
  passedOver: { header: string; field: string }[]
}): FileNote[] {
  const { dataset, fields, rows, unknown, passedOver } = mapped
  const notes: FileNote[] = []
  if (unknown.length > 0) {
    const names = unknown.map(({ header }) => `“${header}”`).join(', ')
    notes.push({
      rule: 'header.unknown',
      message: `${unknown.length === 1 ? 'One column is' : `${unknown.length} columns are`} not part of ${dataset.title} and kept only in the line as uploaded: ${names}.`,
    })
  }
  for (const { header, field } of passedOver) {
    notes.push({
      rule: 'header.second_choice',
      message: `“${header}” also means ${titleOf(dataset, field)}; “${fields[field]!.header}” is used.`,
    })
  }
  for (const [field, mapped] of Object.entries(fields)) {
    if (mapped.duplicates.length === 0) continue
    notes.push({
      rule: 'header.duplicate',
      message: `“${mapped.header}” is there ${mapped.duplicates.length + 1} times; the first column is used as ${titleOf(dataset, field)}.`,
    })
  }
  const byName = rows.filter(({ identity }) => identity?.name && !(identity.id && fields[identity.id]))
  if (byName.length > 0) {
    const names = byName.map((row) => row.name.replaceAll('_', ' ')).join(', ')
    notes.push({
      rule: 'identity.by_name',
      message: `The file has no ids for ${names}: they are told apart by name within their parent, so a renamed one counts as new. Add the id columns to the export to avoid that.`,
    })
  }
  return notes
}

// Comparing headers: each is brought to one form, with its currency apart.

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))

/** Signs that stand for one currency only; `$` and `¥` alone do not. */
const CURRENCY_BY_SIGN: Record<string, string> = {
  '€': 'EUR',
  '£': 'GBP',
  '₫': 'VND',
  đ: 'VND',
  VNĐ: 'VND',
  A$: 'AUD',
  AU$: 'AUD',
  US$: 'USD',
  C$: 'CAD',
  CA$: 'CAD',
  NZ$: 'NZD',
  S$: 'SGD',
  HK$: 'HKD',
  NT$: 'TWD',
  R$: 'BRL',
  MX$: 'MXN',
  '₹': 'INR',
  '₩': 'KRW',
  '฿': 'THB',
  '₱': 'PHP',
  '₺': 'TRY',
  '₽': 'RUB',
  '₴': 'UAH',
  '₪': 'ILS',
  '₦': 'NGN',
  '₸': 'KZT',
  '₡': 'CRC',
  '₲': 'PYG',
  '₵': 'GHS',
  '₼': 'AZN',
  '₾': 'GEL',
  '৳': 'BDT',
  zł: 'PLN',
  Kč: 'CZK',
}

/** Signs that several currencies use: each agrees with any of them. */
const SHARED_SIGNS: Record<string, string[]> = {
  $: 'USD AUD CAD NZD SGD HKD TWD MXN ARS CLP COP UYU DOP JMD TTD BBD BZD BSD BMD BND FJD GYD KYD LRD NAD SBD SRD XCD'.split(
    ' ',
  ),
  '¥': ['JPY', 'CNY'],
  '￥': ['JPY', 'CNY'],
  kr: ['SEK', 'NOK', 'DKK', 'ISK'],
  'kr.': ['SEK', 'NOK', 'DKK', 'ISK'],
  Fr: ['CHF', 'XOF', 'XAF', 'XPF'],
  'Fr.': ['CHF', 'XOF', 'XAF', 'XPF'],
  '₨': ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
}

/** The currencies that a sign or a code next to an amount may mean, by its capital letters. */
export const CURRENCIES_BY_SIGN: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...CURRENCIES].map((code): [string, string[]] => [code, [code]]),
  ...Object.entries(CURRENCY_BY_SIGN).map(([sign, code]): [string, string[]] => [sign.toUpperCase(), [code]]),
  ...Object.entries(SHARED_SIGNS).map(([sign, codes]): [string, string[]] => [sign.toUpperCase(), codes]),
])

/** `Amount spent (AUD)` → Amount spent, AUD. The currency is null where the sign leaves it open, as `$` does. */
function splitCurrency(header: string): { name: string; currency: string | null; sign?: string } | undefined {
  const text = header.normalize('NFKC').trim()
  const match =
    /^(.+?)\s*[([]\s*([^()[\]]{1,4})\s*[)\]]$/u.exec(text) ?? /^(.+?)[\s,:]+([A-Z]{3})$/u.exec(text)
  if (!match) return undefined
  const [, name, mark] = match as unknown as [string, string, string]
  const code = mark.toUpperCase()
  if (CURRENCIES.has(code)) return { name, currency: code }
  if (CURRENCY_BY_SIGN[mark]) return { name, currency: CURRENCY_BY_SIGN[mark] }
  if (/^\p{Sc}$/u.test(mark) || CURRENCIES_BY_SIGN.has(code)) return { name, currency: null, sign: mark }
  return undefined
}

/** Currency codes and signs, for compiled rules. */
export const CURRENCY_CODES: readonly string[] = [...CURRENCIES]
export const CURRENCY_SIGNS: Readonly<Record<string, string>> = CURRENCY_BY_SIGN

/**
 * How unlike two header keys are, from 0 to 1: the share of letters that must change. Measured over the aliases of the
 * ads dataset: at 0.25 a name with one letter wrong in eight is still found, and of the aliases of different fields only
 * such as differ in one word's ending come as near.
 */
export function relativeDistance(left: string, right: string): number {
  const longest = Math.max(left.length, right.length)
  return longest === 0 ? 0 : distance(left, right) / longest
}

export const MAX_RELATIVE_DISTANCE = 0.25

// The lines above the header: reports name their period there, and a report without days is of one day or none.

export interface Period {
  start: string
  end: string
}

const PERIOD_SEPARATOR =
  /\s+[-–—]\s+|\s*[–—]\s*|\s+(?:to|bis|au|al|a|à|até|đến|-)\s+|(?<=\d{4})\s*-\s*(?=\d{4}|[^\d\s])|(?<=[./]\d{4})\s*-\s*/iu

/** `1 January 2024 - 31 January 2024`, `Jan 1, 2024 - Jan 1, 2024`, `2024-01-01`: the first line that is one. */
export function periodOf(preamble: readonly { text: string }[]): Period | null {
  for (const { text } of preamble) {
    const line = text.replace(/^["']+|["',;\s]+$/gu, '').trim()
    const period = periodIn(line)
    if (period) return period
  }
  return null
}

/**
 * Refuses a file that lacks columns, and one whose lines cover more than a day where each must be of one day.
 * `without`: expected fields that the file is said not to have. Gives the period of the date line where the day has to come from it.
 */
export function resolvePeriod({
  dataset,
  platform,
  map,
  preamble,
  without = [],
}: {
  readonly dataset: Dataset
  readonly platform: string
  readonly map: HeaderMap
  readonly preamble: readonly { text: string }[]
  readonly without?: readonly string[] | undefined
}): Period | null {
  const leaf = dataset.rows.find((row) => row.name === map.leaf)
  const day = Object.entries(dataset.fields).find(
    ([name, field]) =>
      field.type === 'date' && field.period && leaf && Object.values(leaf.columns).includes(name),
  )?.[0]
  if (day === undefined || hasField(dataset, map.fields, day)) {
    requireColumns(dataset, platform, map, without)
    return null
  }
  const period = periodOf(preamble)
  requireColumns(dataset, platform, map, [...without, ...(period ? [day] : [])])
  if (!period) return null
  if (period.start !== period.end) {
    throw new StagedoorError('upload_period_too_long', { period: `${period.start} to ${period.end}` })
  }
  return period
}

function periodIn(line: string): Period | undefined {
  const whole = dayIn(line)
  if (whole) return { start: whole, end: whole }
  const colon = line.includes(':') ? line.slice(line.indexOf(':') + 1).trim() : line
  for (const text of [line, colon]) {
    const single = dayIn(text)
    if (single) return { start: single, end: single }
    const parts = text.split(PERIOD_SEPARATOR)
    if (parts.length !== 2) continue
    const end = dayIn(parts[1]!.trim())
    // `1 - 31 January 2024` leaves out what both days share.
    const first = parts[0]!.trim()
    const start = dayIn(first) ?? (end ? dayIn(completeDay(first, parts[1]!.trim())) : undefined)
    if (start && end) return { start, end }
  }
  return undefined
}

function completeDay(first: string, second: string): string {
  const year = /\d{4}/.exec(second)?.[0] ?? ''
  if (/^\d{1,2}\.?$/.test(first)) return second.replace(/\d{1,2}/, first.replace('.', ''))
  return `${first.replace(/,$/, '')}, ${year}`
}

function dayIn(text: string): string | undefined {
  const plain = text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/đ/g, 'd')
    .replace(/^(?:[a-z]+\.?, )(?=[a-z]|\d)/, '')
    .trim()
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(plain)
  if (iso) return validDay(iso[1]!, Number(iso[2]), iso[3]!)
  const compact = /^((?:19|20)\d{2})(\d{2})(\d{2})$/.exec(plain)
  if (compact) return validDay(compact[1]!, Number(compact[2]), compact[3]!)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(plain)
  if (dotted) return validDay(dotted[3]!, Number(dotted[2]), dotted[1]!)
  const viet = /^(?:ngay )?(\d{1,2}),? thang (\d{1,2}),?(?: nam)? (\d{4})$/.exec(plain)
  if (viet) return validDay(viet[3]!, Number(viet[2]), viet[1]!)
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th|er|\.)?[ -](?:de )?([a-z]{3,})\.?,?[ -](?:de )?(\d{4})$/.exec(
    plain,
  )
  if (dayFirst) return validDay(dayFirst[3]!, MONTHS[dayFirst[2]!], dayFirst[1]!)
  const monthFirst = /^([a-z]{3,})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/.exec(plain)
  if (monthFirst) return validDay(monthFirst[3]!, MONTHS[monthFirst[1]!], monthFirst[2]!)
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(plain)
  if (slashed) return slashedDay(slashed[3]!, Number(slashed[1]), Number(slashed[2]))
  return undefined
}

/** Only where one reading is possible. */
function slashedDay(year: string, first: number, second: number): string | undefined {
  if (first > 12) return validDay(year, second, String(first))
  if (second > 12 || first === second) return validDay(year, first, String(second))
  return undefined
}

function validDay(year: string, month: number | undefined, day: string): string | undefined {
  if (month === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), month - 1, Number(day)))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== Number(day)) return undefined
  return date.toISOString().slice(0, 10)
}

/** Names of months, without accents and in small letters: English, German, French, Spanish, Portuguese, Italian. */
const MONTH_NAMES: readonly (readonly string[])[] = [
  ['jan', 'january', 'januar', 'janner', 'janvier', 'janv', 'enero', 'ene', 'janeiro', 'gennaio', 'gen'],
  ['feb', 'february', 'februar', 'fevrier', 'fev', 'fevr', 'febrero', 'fevereiro', 'febbraio'],
  ['mar', 'march', 'marz', 'maerz', 'mrz', 'mars', 'marzo', 'marco'],
  ['apr', 'april', 'avril', 'avr', 'abril', 'abr', 'aprile'],
  ['may', 'mai', 'mayo', 'maio', 'maggio', 'mag'],
  ['jun', 'june', 'juni', 'juin', 'junio', 'junho', 'giugno', 'giu'],
  ['jul', 'july', 'juli', 'juillet', 'juil', 'julio', 'julho', 'luglio', 'lug'],
  ['aug', 'august', 'aout', 'agosto', 'ago'],
  ['sep', 'sept', 'september', 'septembre', 'septiembre', 'setembro', 'set', 'settembre'],
  ['oct', 'october', 'okt', 'oktober', 'octobre', 'octubre', 'outubro', 'out', 'ottobre', 'ott'],
  ['nov', 'november', 'novembre', 'noviembre', 'novembro'],
  ['dec', 'december', 'dez', 'dezember', 'decembre', 'diciembre', 'dic', 'dezembro', 'dicembre'],
]

export const MONTHS: Readonly<Record<string, number>> = Object.fromEntries(
  MONTH_NAMES.flatMap((names, index) => names.map((name) => [name, index + 1])),
)
