/**
 * How times, days with a time, uuids, addresses, JSON and lists are read, as SQL. A time zone is never assumed: it stands
 * in the value, or the field declares it. Day and month are told apart as in dates, by the evidence of the whole file.
 */

import {
  bothDateReadings,
  dayMembersAlone,
  idSql,
  numberSql,
  onlyDateReading,
  PLAIN_DATE,
  readChoices,
  readDates,
  readIds,
  readNumbers,
} from './compile-fields.ts'
import {
  type FieldColumns,
  type FieldSql,
  finding,
  findingOf,
  nullIfEmpty,
  trimmed,
  withMembers,
} from './compile-findings.ts'
import { UUID_FORM } from './compile-limits.ts'
import type { Field, Severity } from './dataset.ts'
import type { Styles } from './profile.ts'
import { matches, text } from './sql-text.ts'

type Members = [name: string, expression: string][]

const PLAIN_TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]'
const PLAIN_FRACTION = '(?:\\.[0-9]{1,6})?'
/** H:MM, then what may follow: seconds, their fraction, half of the day, and the rest, which is the zone. */
const TIME = '^([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?\\s*([ap]\\.?\\s?m\\.?)?\\s*(.*)$'
const TIME_PARTS = `['h', 'm', 's', 'f', 'half', 'zone']`
const DAY_AND_TIME = '^(.*?)(?:[t,]|\\s)[\\s,]*([0-9]{1,2}:[0-9]{2}.*)$'
const OFFSET = '(?:utc|gmt)?\\s?([-+−])([0-9]{1,2})(?::?([0-9]{2}))?(?:\\[.*\\])?'
const ZONE_NAME = '\\(?[a-z]{1,5}\\)?|\\[?[a-z_]+(?:/[a-z0-9_+-]+)+\\]?'
const SECOND = 1_000_000
const EPOCH = '[0-9]{10}(?:\\.[0-9]+)?|[0-9]{13}'

export function momentSql(field: Field, at: FieldColumns): FieldSql {
  const { type } = field
  const time = `${PLAIN_TIME}${PLAIN_FRACTION}`
  const form =
    type === 'time'
      ? time
      : `(?:${PLAIN_DATE})[T ]${time}${type === 'timestamptz' ? '(?:Z|\\+00(?::?00)?)' : ''}`
  const value = plainMoment(type, at.cell)
  return {
    first: [],
    plain: matches(at.cell, `(?:${form})${field.required ? '' : '|'}`),
    plainValue: value,
    whole: { holds: matches(at.cell, form), value },
    kind: type as 'time' | 'timestamp' | 'timestamptz',
    entry: { severity: severitySql(field), ...(type === 'timestamptz' && zoneEntry(field.zone)) },
    json: 'quoted',
  }
}

/** As JSON of PostgreSQL has it: 2026-01-31T12:00:00.5+00:00. */
function plainMoment(type: Field['type'], cell: string): string {
  const bare =
    type === 'time'
      ? cell
      : type === 'timestamp'
        ? `replace(${cell}, ' ', 'T')`
        : `regexp_replace(replace(${cell}, ' ', 'T'), '(?:Z|\\+[0-9:]+)$', '')`
  const short = `CASE WHEN contains(${cell}, '.') THEN rtrim(rtrim(${bare}, '0'), '.') ELSE ${bare} END`
  const value = type === 'timestamptz' ? `concat(${short}, '+00:00')` : short
  return `CASE WHEN ${cell} <> '' THEN ${value} END`
}

function severitySql({ severity }: Pick<Field, 'severity'>): string {
  return severity === 'warning' ? `'W'` : `'E'`
}

const CONSTANT_OFFSET = /^(?:(?:UTC|GMT)?([-+])([0-9]{1,2})(?::?([0-9]{2}))?|UTC|GMT|Z)$/i

/** Seconds east of Greenwich, where the declared zone is an offset and no place. */
export function constantOffset(zone: string): number | undefined {
  const match = CONSTANT_OFFSET.exec(zone)
  if (!match) return undefined
  const [, sign, hours = '0', minutes = '0'] = match
  const seconds = Number(hours) * 3600 + Number(minutes) * 60
  if (Number(hours) > 15 || Number(minutes) > 59) return undefined
  return sign === '-' ? -seconds : seconds
}

function zoneEntry(zone: string | undefined): Record<string, string> {
  const offset = zone === undefined ? undefined : constantOffset(zone)
  const isPlace = zone !== undefined && offset === undefined
  return {
    place: isPlace ? text(zone) : 'CAST(NULL AS VARCHAR)',
    east: offset === undefined ? 'CAST(NULL AS BIGINT)' : `CAST(${offset} AS BIGINT)`,
  }
}

/** Blanks of print become plain ones: 3:04 PM is written with a narrow one. */
function plainBlanks(value: string): string {
  return `translate(${value}, '\u00a0\u202f\u2009', '   ')`
}

/** Of `g`, the parts of a time: `q`, its millionths of a second since midnight, NULL where there is no such time. */
function timeMembers(): Members {
  const number = (part: string) => `TRY_CAST(nullif(e.g.${part}, '') AS BIGINT)`
  const hour = `CASE WHEN e.g.half = '' THEN CASE WHEN ${number('h')} < 24 THEN ${number('h')} END
    WHEN ${number('h')} BETWEEN 1 AND 12 THEN ${number('h')} % 12 + CASE WHEN starts_with(e.g.half, 'p') THEN 12 ELSE 0 END END`
  const below60 = (part: string) =>
    `CASE WHEN e.g.${part} = '' THEN 0 WHEN ${number(part)} < 60 THEN ${number(part)} END`
  const fraction = `coalesce(CAST(nullif(rpad(left(e.g.f, 6), 6, '0'), '000000') AS BIGINT), 0)`
  return [
    [
      'q',
      `CASE WHEN e.g IS NULL OR e.g.h = '' THEN NULL ELSE ((${hour}) * 3600 + (${below60('m')}) * 60 + (${below60('s')})) * ${SECOND} + ${fraction} END`,
    ],
    ['cut', `e.g IS NOT NULL AND ${matches('substr(e.g.f, 7)', '[0-9]*[1-9][0-9]*')}`],
  ]
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readTimes(list: string): string {
  const fails = (rule: string, suggestion?: string) => findingOf('e.severity', rule, suggestion)
  const fraction = '0?\\.[0-9]+'
  const ofDay = `CAST(TIME '00:00:00' + to_seconds(CAST(round(CAST(e.x AS DOUBLE) * 86400) AS BIGINT)) AS VARCHAR)`
  return withMembers(list, [
    ['l', `CASE WHEN e.x IS NULL THEN NULL ELSE lower(${plainBlanks('e.x')}) END`],
    [
      'g',
      `CASE WHEN ${matches('e.l', `(?s)${TIME.slice(1, -1)}`)} THEN regexp_extract(e.l, ${text(TIME)}, ${TIME_PARTS}) END`,
    ],
    ...timeMembers(),
    [
      'p',
      [
        'CASE WHEN e.l IS NULL THEN NULL',
        `WHEN ${matches('e.x', fraction)} THEN ${fails('time.fraction_of_day', `${text('It may mean ')}, ${ofDay}, ${text('. Write the time as HH:MM:SS.')}`)}`,
        `WHEN e.g IS NULL OR e.g.h = '' THEN ${fails('time.invalid')}`,
        `WHEN e.g.zone <> '' AND ${matches('e.g.zone', `z|utc|gmt|${OFFSET}|${ZONE_NAME}`)} THEN ${fails('time.zone')}`,
        `WHEN e.g.zone <> '' THEN ${fails('time.invalid')}`,
        `WHEN e.q IS NULL THEN ${fails('time.impossible')}`,
        `WHEN e.cut THEN ${findingOf(`'W'`, 'time.precision')} END`,
      ].join(' '),
    ],
    [
      'v',
      `CASE WHEN e.q IS NOT NULL AND e.g.zone = '' THEN substr(CAST(make_timestamp(e.q) AS VARCHAR), 12) END`,
    ],
  ])
}

/** Entries with `x`, the cleaned cell, become entries with `v` and `p`. */
export function readTimestamps(list: string, styles: Styles, type: 'timestamp' | 'timestamptz'): string {
  const fails = (rule: string, suggestion?: string) => findingOf('e.severity', rule, suggestion)
  const after = text('. Write it as YYYY-MM-DD HH:MM:SS.')
  const fromSerial = `CAST(make_timestamp(CAST(round(CAST(e.x AS DOUBLE) * 86400) AS BIGINT) * ${SECOND} - 2209161600 * ${SECOND}) AS VARCHAR)`
  const seconds = `CASE WHEN strlen(e.x) = 13 THEN CAST(e.x AS BIGINT) // 1000 ELSE CAST(split_part(e.x, '.', 1) AS BIGINT) END`
  const fromEpoch = `concat(CAST(make_timestamp((${seconds}) * ${SECOND}) AS VARCHAR), '+00:00')`
  const hasZone = `(e.g IS NOT NULL AND e.g.zone <> '')`
  return withMembers(list, [
    ['y', `CASE WHEN e.x IS NULL THEN NULL ELSE lower(strip_accents(${plainBlanks('e.x')})) END`],
    [
      'j',
      `CASE WHEN e.y IS NULL THEN NULL ELSE regexp_extract(e.y, ${text(DAY_AND_TIME)}, ['day', 'time']) END`,
    ],
    ['l', `CASE WHEN e.y IS NULL THEN NULL WHEN e.j.time = '' THEN e.y ELSE rtrim(e.j.day, ' ,') END`],
    [
      'g',
      `CASE WHEN e.y IS NULL OR e.j.time = '' THEN NULL ELSE regexp_extract(e.j.time, ${text(TIME)}, ${TIME_PARTS}) END`,
    ],
    ...dayMembersAlone(styles),
    ...timeMembers(),
    [
      'n',
      `CASE WHEN year(e.w) BETWEEN 1900 AND 2099 THEN epoch_us(CAST(e.w AS TIMESTAMP)) + CASE WHEN e.g IS NULL THEN 0 ELSE e.q END END`,
    ],
    ...(type === 'timestamptz' ? instantMembers() : ([['o', offsetOf('e.g.zone')]] as Members)),
    [
      'p',
      [
        'CASE WHEN e.y IS NULL THEN NULL',
        `WHEN ${matches('e.y', EPOCH)} THEN ${fails('timestamp.epoch', `${text('It may mean ')}, ${fromEpoch}, ${after}`)}`,
        `WHEN e.k = 'serial' THEN ${fails('timestamp.excel_serial', `${text('It may mean ')}, ${fromSerial}, ${after}`)}`,
        `WHEN e.k = 'none' THEN ${fails('timestamp.invalid')}`,
        `WHEN e.w IS NULL AND e.t IS NOT NULL AND e.u IS NOT NULL THEN ${fails('date.ambiguous', bothDateReadings())}`,
        `WHEN e.w IS NULL AND (e.t IS NOT NULL OR e.u IS NOT NULL) THEN ${fails('date.order', onlyDateReading())}`,
        `WHEN e.w IS NULL THEN ${fails('date.impossible')}`,
        `WHEN year(e.w) NOT BETWEEN 1900 AND 2099 THEN ${fails('date.implausible')}`,
        `WHEN ${hasZone} AND e.o IS NULL AND ${matches('e.g.zone', ZONE_NAME)} THEN ${fails(type === 'timestamp' ? 'timestamp.zone' : 'timestamp.zone_unknown')}`,
        `WHEN ${hasZone} AND e.o IS NULL THEN ${fails('timestamp.invalid')}`,
        ...(type === 'timestamp' ? [`WHEN ${hasZone} THEN ${fails('timestamp.zone')}`] : []),
        `WHEN e.g IS NOT NULL AND e.q IS NULL THEN ${fails('time.impossible')}`,
        ...(type === 'timestamptz' ? zoneProblems(fails) : []),
        `WHEN e.cut THEN ${findingOf(`'W'`, 'time.precision')} END`,
      ].join(' '),
    ],
    [
      'v',
      type === 'timestamp'
        ? `CASE WHEN e.n IS NOT NULL AND NOT ${hasZone} THEN ${isoText('e.n')} END`
        : `CASE WHEN e.z0 IS NOT NULL THEN concat(${isoText('e.z0')}, '+00:00') END`,
    ],
  ])
}

function isoText(micros: string): string {
  return `replace(CAST(make_timestamp(${micros}) AS VARCHAR), ' ', 'T')`
}

/** Seconds east of Greenwich that a value names; NULL where it names none, or by letters. */
function offsetOf(zone: string): string {
  const parts = `regexp_extract(${zone}, ${text(`^${OFFSET}$`)}, ['sign', 'h', 'm'])`
  const minutes = `coalesce(TRY_CAST(nullif(${parts}.m, '') AS BIGINT), 0)`
  const seconds = `TRY_CAST(${parts}.h AS BIGINT) * 3600 + ${minutes} * 60`
  return `CASE WHEN e.g IS NULL THEN NULL WHEN ${matches(zone, 'z|utc|gmt|\\+?00:?00\\[.*\\]')} THEN 0
    WHEN ${matches(zone, OFFSET)} AND TRY_CAST(${parts}.h AS BIGINT) < 16 AND ${minutes} < 60
    THEN CASE WHEN ${parts}.sign = '+' THEN 1 ELSE -1 END * (${seconds}) END`
}

const DAY = 86_400 * SECOND

/**
 * The instant `z0` in millionths of a second of UTC. In a place a time is tried with the offset of the day before and of the
 * day after: `z1` and `z2` are those that are this time there. One is the instant, none: it does not exist, two: it happened
 * twice.
 */
function instantMembers(): Members {
  const here = (micros: string) => `epoch_us(timezone(e.place, make_timestamptz(${micros})))`
  const offset = (micros: string) => `${here(micros)} - (${micros})`
  const isThisTime = (micros: string) => `CASE WHEN ${here(micros)} = e.n THEN ${micros} END`
  return [
    ['o', offsetOf('e.g.zone')],
    ['known', `coalesce(e.o, CASE WHEN e.g IS NULL OR e.g.zone = '' THEN e.east END)`],
    [
      'inplace',
      `e.place IS NOT NULL AND e.known IS NULL AND (e.g IS NULL OR e.g.zone = '') AND e.n IS NOT NULL`,
    ],
    ['o1', `CASE WHEN e.inplace THEN ${offset(`e.n - ${DAY}`)} END`],
    ['o2', `CASE WHEN e.inplace THEN ${offset(`e.n + ${DAY}`)} END`],
    ['z1', `CASE WHEN e.inplace THEN ${isThisTime('(e.n - e.o1)')} END`],
    ['z2', `CASE WHEN e.inplace THEN ${isThisTime('(e.n - e.o2)')} END`],
    [
      'z0',
      `CASE WHEN e.known IS NOT NULL THEN e.n - e.known * ${SECOND} WHEN e.z1 = e.z2 THEN e.z1 WHEN e.z1 IS NULL THEN e.z2 WHEN e.z2 IS NULL THEN e.z1 END`,
    ],
  ]
}

function zoneProblems(fails: (rule: string, suggestion?: string) => string): string[] {
  const reading = (instant: string) => `concat(${isoText(instant)}, 'Z')`
  const both = `${text('It is either ')}, ${reading('e.z1')}, ${text(' or ')}, ${reading('e.z2')}, ${text(' in UTC. Write it with its offset.')}`
  return [
    `WHEN e.known IS NULL AND e.place IS NULL THEN ${fails('timestamp.zone_missing')}`,
    `WHEN e.inplace AND e.z1 IS NULL AND e.z2 IS NULL THEN ${fails('timestamp.not_there')}`,
    `WHEN e.inplace AND e.z1 <> e.z2 THEN ${fails('timestamp.twice', both)}`,
  ]
}

// Texts of a form: uuids and addresses.

type Form = 'uuid' | 'email' | 'url'

const DASHED_UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]*[\\p{L}\\p{N}])?'
const HOST = `(?:${LABEL}\\.)*${LABEL}\\.?`
const EMAIL = `[^\\s@"(),:;<>\\[\\]\\\\\\x00-\\x1f]{1,64}@(?:${LABEL}\\.)+${LABEL}`
const URL = `(?i:https?)://(?:[^\\s/?#@]+@)?(?:${HOST}|\\[[0-9a-fA-F:.]+\\])(?::[0-9]{1,5})?(?:[/?#][^\\s\\x00-\\x1f"<>\\\\^\`{|}]*)?`
const FORMS: Record<Form, string> = {
  uuid: `${UUID_FORM}|\\{${UUID_FORM}\\}`,
  email: EMAIL,
  url: URL,
}

export function formSql(field: Field, at: FieldColumns): FieldSql {
  const form = field.type as Form
  const cleaned = at.own('x')
  const plain = matches(at.cell, form === 'uuid' ? DASHED_UUID : FORMS[form])
  return {
    first: [{ x: `CASE WHEN ${at.cell} = '' THEN NULL ELSE ${nullIfEmpty(trimmed(at.cell))} END` }],
    plain,
    plainValue: at.cell,
    whole: { holds: plain, value: `nullif(${at.cell}, '')` },
    value: formValue(form, cleaned),
    problem: formProblem(form, cleaned, field.severity ?? 'error'),
    // No quote and no backslash is in any of them, nor a control character.
    json: 'quoted',
  }
}

function formValue(form: Form, value: string): string {
  const bare = `regexp_replace(lower(${value}), '[^0-9a-f]', '', 'g')`
  const dashed = `regexp_replace(${bare}, '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\\1-\\2-\\3-\\4-\\5')`
  return `CASE WHEN ${matches(value, FORMS[form])} THEN ${form === 'uuid' ? dashed : value} END`
}

function formProblem(form: Form, value: string, severity: Severity | { sql: string }): string {
  const fails = (suggestion?: string) =>
    typeof severity === 'string'
      ? finding(severity, `${form}.invalid`, suggestion)
      : findingOf(severity.sql, `${form}.invalid`, suggestion)
  const within = `regexp_extract(${value}, ${text(`<(${EMAIL})>`)}, 1)`
  const hinted =
    form === 'email'
      ? `WHEN ${within} <> '' THEN ${fails(`${text('Write the address alone: ')}, ${within}, ${text('.')}`)}`
      : form === 'url'
        ? `WHEN regexp_full_match(concat('https://', ${value}), ${text(URL)}) AND contains(${value}, '.') THEN ${fails(`${text('It has no scheme. Did you mean https://')}, ${value}, ${text('?')}`)}`
        : ''
  return `CASE WHEN ${value} IS NULL OR ${matches(value, FORMS[form])} THEN NULL ${hinted} ELSE ${fails()} END`
}

// JSON stays the text that it is: only the column decides what of it counts.

/** DuckDB takes NaN, Infinity and a comma after the last member, which are not JSON. */
function isJson(value: string): string {
  const bare = `regexp_replace(${value}, ${text('"(?:[^"\\\\]|\\\\.)*"')}, '""', 'g')`
  return `(json_valid(${value}) AND NOT regexp_matches(${bare}, ${text('(?i)nan|inf|,\\s*[\\]}]')}))`
}

/** An escaped NUL, not an escaped backslash before u0000. */
function hasNul(value: string): string {
  return `(contains(${value}, '\\u0000') AND regexp_matches(${value}, ${text('(?:^|[^\\\\])(?:\\\\\\\\)*\\\\u0000')}))`
}

export function jsonSql(field: Field, at: FieldColumns): FieldSql {
  const cleaned = at.own('x')
  const severity = field.severity ?? 'error'
  return {
    first: [{ x: `CASE WHEN ${at.cell} = '' THEN NULL ELSE ${nullIfEmpty(trimmed(at.cell))} END` }],
    plain: 'false',
    plainValue: 'NULL',
    whole: { holds: 'false', value: `nullif(${at.cell}, '')` },
    value: `CASE WHEN ${isJson(cleaned)} AND NOT ${hasNul(cleaned)} THEN ${cleaned} END`,
    problem: `CASE WHEN ${cleaned} IS NULL THEN NULL WHEN NOT ${isJson(cleaned)} THEN ${finding(severity, 'json.invalid')} WHEN ${hasNul(cleaned)} THEN ${finding(severity, 'json.nul')} END`,
    json: 'escaped',
  }
}

// Lists: with the declared separator, as PostgreSQL writes them ({a,b}), or as JSON. What stands in brackets and is
// neither is not guessed at.

const JSON_ITEM =
  '"(?:[^"\\\\\\x00-\\x1f]|\\\\["\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*"|-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null'
const JSON_LIST = `\\[\\s*(?:(?:${JSON_ITEM})(?:\\s*,\\s*(?:${JSON_ITEM}))*)?\\s*\\]`
const LITERAL_ITEM = '(?s:"(?:[^"\\\\]|\\\\.)*"|[^",{}\\\\\\s](?:[^",{}\\\\]*[^",{}\\\\\\s])?)'
const LITERAL = `\\{\\s*(?:${LITERAL_ITEM}(?:\\s*,\\s*${LITERAL_ITEM})*)?\\s*\\}`

/** Columns of its own: `x` the cleaned cell, `s` how it is written, `t` the items as written, `r` as read, `l` their values. */
export function arraySql(field: Field, styles: Styles, at: FieldColumns): FieldSql {
  const items = field.items ?? 'text'
  const [cleaned, style, written, read, values] = ['x', 's', 't', 'r', 'l'].map(at.own) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const inBrackets = (open: string, close: string) =>
    `starts_with(${cleaned}, '${open}') AND ends_with(${cleaned}, '${close}')`
  const severity = field.severity ?? 'error'
  const failed = `list_filter(${read}, lambda e: e.p IS NOT NULL)`
  const asJson =
    items === 'boolean' || ['integer', 'decimal', 'money', 'percent'].includes(items)
      ? 'v'
      : 'CAST(to_json(v) AS VARCHAR)'
  return {
    first: [
      { x: `CASE WHEN ${at.cell} = '' THEN NULL ELSE ${nullIfEmpty(trimmed(at.cell))} END` },
      {
        s: [
          `CASE WHEN ${cleaned} IS NULL THEN NULL`,
          `WHEN ${inBrackets('[', ']')} THEN CASE WHEN ${matches(cleaned, JSON_LIST)} AND json_valid(${cleaned}) AND NOT ${hasNul(cleaned)} THEN 'json' WHEN ${isJson(cleaned)} THEN 'nested' ELSE 'bad' END`,
          `WHEN ${inBrackets('{', '}')} THEN CASE WHEN ${matches(cleaned, LITERAL)} THEN 'literal' ELSE 'bad' END`,
          `ELSE 'separated' END`,
        ].join(' '),
      },
      {
        t: `CASE ${style} WHEN 'json' THEN ${jsonItems(cleaned)} WHEN 'literal' THEN ${literalItems(cleaned)} WHEN 'separated' THEN list_transform(string_split(${cleaned}, ${text(field.separator ?? ',')}), lambda c: ${trimmed('c')}) END`,
      },
      { r: readItems(field, items, styles, written, style) },
      { l: `list_transform(${read}, lambda e: e.v)` },
    ],
    plain: 'false',
    plainValue: 'NULL',
    whole: { holds: 'false', value: 'CAST(NULL AS VARCHAR)' },
    value: `CASE WHEN ${read} IS NULL OR len(list_filter(${read}, lambda e: starts_with(e.p, 'E') OR (e.p IS NOT NULL AND e.v IS NULL))) > 0 OR list_contains(${written}, '') AND ${style} = 'separated' THEN NULL ELSE concat('[', array_to_string(list_transform(${values}, lambda v: coalesce(${asJson}, 'null')), ','), ']') END`,
    problem: [
      `CASE WHEN ${style} IS NULL THEN NULL`,
      `WHEN ${style} = 'bad' THEN ${finding(severity, 'array.invalid')}`,
      `WHEN ${style} = 'nested' THEN ${finding(severity, 'array.nested')}`,
      `WHEN ${style} = 'separated' AND list_contains(${written}, '') THEN ${finding(severity, 'array.empty_item')}`,
      `ELSE ${failed}[1].p END`,
    ].join(' '),
    json: 'raw',
  }
}

function jsonItems(value: string): string {
  const item = `CASE WHEN starts_with(c, '"') THEN json_extract_string(c, '$') WHEN c = 'null' THEN NULL ELSE c END`
  return `list_transform(regexp_extract_all(${value}, ${text(JSON_ITEM)}), lambda c: ${item})`
}

function literalItems(value: string): string {
  const unquoted = `regexp_replace(substr(c, 2, length(c) - 2), '(?s)\\\\(.)', '\\1', 'g')`
  const item = `CASE WHEN starts_with(c, '"') THEN ${unquoted} WHEN upper(c) = 'NULL' THEN NULL ELSE c END`
  return `list_transform(regexp_extract_all(substr(${value}, 2, length(${value}) - 2), ${text(LITERAL_ITEM)}), lambda c: ${item})`
}

/** A list of entries with `v` and `p`, one for each item. */
function readItems(
  field: Field,
  items: NonNullable<Field['items']>,
  styles: Styles,
  written: string,
  style: string,
): string {
  const severity = severitySql(field)
  const entries = (known: Record<string, string> = {}) => {
    const members = Object.entries({ i: '0', c: 'c', severity, z: 'c', x: 'c', ...known })
    return `list_transform(${written}, lambda c: {${members.map(([name, sql]) => `${name}: ${sql}`).join(', ')}})`
  }
  const item = { ...field, type: items, required: false } as Field
  const results = (list: string) => `list_transform(${list}, lambda e: {v: e.v, p: e.p})`
  switch (items) {
    case 'integer':
    case 'decimal':
    case 'money':
    case 'percent': {
      const number = { ...item, required: field.required } as Field
      const known = numberSql(number, { column: 0, header: '', type: items, duplicates: [] }, styles, {
        cell: 'c',
      } as FieldColumns).entry!
      const read = (decimal: Styles['decimal']) =>
        results(readNumbers(entries(known), { ...styles, decimal }))
      if (styles.decimal === 'dot') return read('dot')
      // JSON and PostgreSQL have a decimal point, however the file writes its numbers.
      return `CASE WHEN ${style} = 'separated' THEN ${read(styles.decimal)} ELSE ${read('dot')} END`
    }
    case 'date':
      return results(readDates(entries(), styles))
    case 'id':
      return results(readIds(entries(idSql(item, { cell: 'c' } as FieldColumns).entry)))
    case 'time':
      return results(readTimes(entries()))
    case 'timestamp':
    case 'timestamptz':
      return results(
        readTimestamps(entries(items === 'timestamptz' ? zoneEntry(field.zone) : {}), styles, items),
      )
    case 'enum':
    case 'boolean':
    case 'currency':
      return results(readChoices(entries(), item))
    case 'uuid':
    case 'email':
    case 'url':
      return results(
        withMembers(entries(), [
          ['v', formValue(items, 'e.x')],
          ['p', formProblem(items, 'e.x', { sql: 'e.severity' })],
        ]),
      )
    default:
      return `list_transform(${written}, lambda c: {v: c, p: CAST(NULL AS VARCHAR)})`
  }
}
