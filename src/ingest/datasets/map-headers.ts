/** Which column of a file is which field of the dataset, and which rows the file therefore holds. */
import { StagedoorError } from '../../errors.ts'
import { type Dataset, type FieldType, type RowType, titleOf } from './dataset.ts'
import { headerKey, NEAR, splitCurrency, unlikeness } from './header-name.ts'

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

export interface FileNote {
  rule: string
  message: string
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

export interface Remembered {
  /** Header → field; null leaves the column out. */
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
  remembered: Remembered = {},
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
    missing: missingFields(dataset, platform, fields, rows, unknown),
    rowTypes: rows.map((row) => row.name),
    leaf,
    notes: notesOn(dataset, fields, rows, unknown, passedOver),
  }

  function claimsOf(header: string): { claims: Claim[]; currency?: string; sign?: string } {
    const chosen = rememberedField(remembered, header)
    if (chosen === null) return { claims: [] }
    const split = splitCurrency(header)
    if (chosen !== undefined && dataset.fields[chosen]) {
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
export function headerKnower(
  dataset: Dataset,
  platform: string,
  remembered: Remembered = {},
): (name: string) => boolean {
  const known = claimsByKey(dataset, platform)
  return (name) => {
    if (rememberedField(remembered, name) !== undefined) return true
    const split = splitCurrency(name)
    return known.has(headerKey(name)) || (split !== undefined && known.has(headerKey(split.name)))
  }
}

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
  const candidates = unknown.slice(0, MOST_HEADERS).map(({ header }) => `“${header}”`)
  const which = candidates.length > 0 ? ` Columns that are not known: ${candidates.join(', ')}.` : ''
  return `${which} If the export really has none, say so: \`--without ${expected.join(',')}\`.`
}

const MOST_HEADERS = 20

/** What the file has, and the whole command that says what one of its headers means. */
function mapHint(
  dataset: Dataset,
  platform: string,
  { headers }: HeaderMap,
  { field, nearest, means = field }: HeaderMap['missing'][number],
): string {
  const shown = headers.slice(0, MOST_HEADERS).map((header) => `“${header}”`)
  const more = headers.length > MOST_HEADERS ? ` and ${headers.length - MOST_HEADERS} more` : ''
  // A header that is not like the field is no suggestion: whoever copies the command would bind it to the wrong one.
  const header = nearest === undefined ? 'HEADER' : nearest.replace(/["$`\\]/g, '\\$&')
  const command = `stagedoor dataset map ${dataset.name} --platform ${platform} --header "${header}=${means}" --as operator`
  return `The file has ${shown.join(', ')}${more}. Check the dataset and the platform, add the column to the export, or say which header means it and bring the file again: \`${command}\`.`
}

/** The row types whose fields are there. Facts before the leaf are left out: a line is one fact. */
function rowTypesIn(dataset: Dataset, fields: Record<string, MappedField>): RowType[] {
  const present = dataset.rows.filter((row) => row.requires.every((need) => isIn(need)))
  return present.filter((row, index) => row.identity !== undefined || index === present.length - 1)

  function isIn(need: string): boolean {
    return need.split('|').some((name) => hasField(dataset, fields, name))
  }
}

export function hasField(dataset: Dataset, fields: Record<string, MappedField>, name: string): boolean {
  if (fields[name]) return true
  const period = dataset.fields[name]?.period
  return period !== undefined && fields[period.start] !== undefined && fields[period.end] !== undefined
}

function rememberedField(remembered: Remembered, header: string): string | null | undefined {
  const direct = remembered.headers?.[header]
  if (direct !== undefined) return direct
  const entries = Object.entries(remembered.headers ?? {})
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

function missingFields(
  dataset: Dataset,
  platform: string,
  fields: Record<string, MappedField>,
  rows: RowType[],
  unknown: { header: string }[],
): HeaderMap['missing'] {
  const used = new Set(rows.flatMap((row) => Object.values(row.columns)))
  const needed = Object.keys(dataset.fields).filter(
    (name) =>
      (dataset.fields[name]!.required && (rows.length === 0 || used.has(name))) ||
      (dataset.fields[name]!.expected && used.has(name)),
  )
  const groups = rows.length === 0 ? (dataset.rows[0]?.requires ?? []) : []
  const absent = [...new Set([...groups, ...needed])].filter(
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
      const away = unlikeness(key, alias)
      if (away <= NEAR && (!best || away < best.away)) best = { header, field, away }
    }
  }
  return best
}

function notesOn(
  dataset: Dataset,
  fields: Record<string, MappedField>,
  rows: RowType[],
  unknown: { header: string }[],
  passedOver: { header: string; field: string }[],
): FileNote[] {
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
