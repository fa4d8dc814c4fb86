/** Values that a column of the target table cannot hold, as conditions on the values of a line. */

import type { ColumnLimit } from './column-limits.ts'
import { findingInWords, type ProblemText } from './compile-findings.ts'
import type { PlannedField } from './compile-plan.ts'
import type { Field, Severity } from './dataset.ts'
import { listOf, matches, text } from './sql-text.ts'

interface LimitFinding {
  /** SQL that is true where the column cannot hold the value. */
  when: string
  /** SQL of a broken rule (see `finding`). */
  broken: string
}

type Judged = Pick<PlannedField, 'title' | 'field' | 'at' | 'isPlain' | 'limits' | 'required'>

const NUMBERS = new Set<Field['type']>(['integer', 'decimal', 'money', 'percent'])
const WORDS = new Set<Field['type']>(['text', 'id', 'enum', 'email', 'url', 'currency'])
const CHECK = 'Check the value in the source, or make the column wider and upload again.'

export function limitFindings(planned: Judged): LimitFinding[] {
  return planned.limits.flatMap((limit) => [...emptiness(planned, limit), ...misfit(planned, limit)])
}

/** SQL that is true where nothing would be stored, though a column must have a value: also where a value was not taken. */
function emptiness({ title, at, isPlain, required }: Judged, limit: ColumnLimit): LimitFinding[] {
  if (!limit.notNull || required) return []
  const taken = isPlain ? '' : ` AND coalesce(NOT starts_with(${at.problem}, 'E'), true)`
  return [
    found(`${at.value} IS NULL${taken}`, 'error', 'required.missing', {
      message: `${title} is empty, and ${limit.column} must have a value.`,
      suggestion: 'Fill it in and upload again, repair the line, or declare a default for it in the dataset.',
    }),
  ]
}

function misfit(planned: Judged, limit: ColumnLimit): LimitFinding[] {
  const { field, at, isPlain } = planned
  if (field.lookup !== undefined || field.type === 'json') return []
  if ((field.type === 'array') !== (limit.array ?? false)) return []
  if (field.type !== 'array') return judgeValue(planned, limit, field, at.value)
  // All of its cells are empty.
  if (isPlain) return []
  const item = { type: field.items ?? 'text', ...(field.values && { values: field.values }) }
  return judgeValue(planned, limit, item as Field, 't').map(({ when, broken }) => ({
    when: `len(list_filter(${at.own('l')}, lambda t: coalesce(${when}, false))) > 0`,
    broken,
  }))
}

function judgeValue(planned: Judged, limit: ColumnLimit, field: Field, value: string): LimitFinding[] {
  switch (limit.kind) {
    case 'text':
      return tooLong(planned, limit, field, value)
    case 'integer':
      return NUMBERS.has(field.type)
        ? wholeNumber(limit, field, value)
        : WORDS.has(field.type)
          ? wholeNumberText(limit, value)
          : []
    case 'numeric':
      return [
        ...(WORDS.has(field.type) ? [noNumber(limit, value)] : []),
        ...(NUMBERS.has(field.type) || WORDS.has(field.type) ? numericDigits(limit, field, value) : []),
      ]
    case 'uuid':
      return WORDS.has(field.type) ? [noUuid(limit, value)] : []
    case 'timestamptz':
    case 'timestamp':
    case 'date':
      return otherMoment(limit, field, value)
    case 'enum':
      return WORDS.has(field.type) ? noLabel(limit, field, value) : []
    default:
      return []
  }
}

function tooLong({ title }: Judged, limit: ColumnLimit, field: Field, value: string): LimitFinding[] {
  const { maxLength, column } = limit
  if (maxLength === undefined || (field.maxLength !== undefined && field.maxLength <= maxLength)) return []
  return [
    found(`length(${value}) > ${maxLength}`, 'error', 'text.too_long', {
      message: `${title} is longer than the ${maxLength} characters of ${column}.`,
      suggestion: 'Shorten it in the source, or make the column wider and upload again.',
    }),
  ]
}

const RANGES = {
  2: ['-32768', '32767'],
  4: ['-2147483648', '2147483647'],
  8: ['-9223372036854775808', '9223372036854775807'],
} as const

function rangeWords({ column, bytes }: ColumnLimit): ProblemText {
  const [least, most] = RANGES[bytes!]
  return { message: `${column} takes whole numbers from ${least} to ${most}.`, suggestion: CHECK }
}

function wholeNumber(limit: ColumnLimit, field: Field, value: string): LimitFinding[] {
  const [least, most] = RANGES[limit.bytes!]
  const outside = (sql: string) => `${sql} NOT BETWEEN ${least} AND ${most}`
  if (field.type === 'integer') {
    // The reader takes none that does not fit into 8 bytes.
    const isWithin =
      field.min !== undefined && field.max !== undefined && field.min >= +least && field.max <= +most
    if (limit.bytes === 8 || (isWithin && field.severity !== 'warning')) return []
    return [found(outside(`CAST(${value} AS BIGINT)`), 'error', 'number.range', rangeWords(limit))]
  }
  const digits = `strlen(ltrim(split_part(${value}, '.', 1), '-'))`
  const rounded = `round(CAST(${value} AS DECIMAL(38, 9)), 0)`
  return [
    found(
      `CASE WHEN ${digits} < ${most.length} THEN false WHEN ${digits} > 28 THEN true ELSE ${outside(rounded)} END`,
      'error',
      'number.range',
      rangeWords(limit),
    ),
    ...rounding({ ...limit, scale: 0 }, field, value),
  ]
}

function wholeNumberText(limit: ColumnLimit, value: string): LimitFinding[] {
  const [least, most] = RANGES[limit.bytes!]
  const isWhole = matches(value, '[-+]?[0-9]{1,30}')
  const inside = `CAST(${value} AS HUGEINT) BETWEEN ${least} AND ${most}`
  return [
    found(
      `NOT CASE WHEN ${isWhole} THEN ${inside} ELSE false END AND ${value} IS NOT NULL`,
      'error',
      'column.type',
      rangeWords(limit),
    ),
  ]
}

function noNumber({ column }: ColumnLimit, value: string): LimitFinding {
  return found(
    `NOT ${matches(value, '[-+]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?')}`,
    'error',
    'column.type',
    {
      message: `${column} takes numbers only.`,
      suggestion:
        'Check that the right column was exported; declare the field as a decimal to read other ways of writing.',
    },
  )
}

function numericDigits(limit: ColumnLimit, field: Field, value: string): LimitFinding[] {
  const { column, precision, scale } = limit
  if (precision === undefined || scale === undefined) return []
  const whole = precision - scale
  // numeric(2, 4) and numeric(3, -2): PostgreSQL says it when planned.
  if (scale < 0 || whole < 0) return []
  const nines = `9{${whole}}\\.9{${scale}}[5-9][0-9]*`
  const pattern = `-?0*(?:[1-9][0-9]{${whole},}(?:\\.[0-9]*)?|${nines})`
  return [
    found(matches(value, pattern), 'error', 'number.precision', {
      message: `${column} takes at most ${whole} digits before the decimal point.`,
      suggestion: CHECK,
    }),
    ...rounding(limit, field, value),
  ]
}

/** PostgreSQL rounds without a word. A field with a scale of its own says what that means. */
function rounding({ column, scale }: ColumnLimit, field: Field, value: string): LimitFinding[] {
  if (scale === undefined || (field.scale !== undefined && field.scale <= scale)) return []
  const kept = scale === 0 ? 'no digits' : scale === 1 ? '1 digit' : `${scale} digits`
  return [
    found(`strlen(rtrim(split_part(${value}, '.', 2), '0')) > ${scale}`, 'warning', 'number.scale', {
      message: `${column} keeps ${kept} after the decimal point, so this will be rounded.`,
      suggestion: 'Check the value in the source; write fewer digits, or give the column more of them.',
    }),
  ]
}

export const UUID_FORM = '[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}'

function noUuid({ column }: ColumnLimit, value: string): LimitFinding {
  return found(`NOT ${matches(value, `${UUID_FORM}|\\{${UUID_FORM}\\}`)}`, 'error', 'column.type', {
    message: `${column} takes uuids only.`,
    suggestion: 'Write it as 8-4-4-4-12 hexadecimal digits: 0190f3a4-7b1c-7000-8000-000000000001.',
  })
}

/** PostgreSQL would put the values of its session's zone in, or leave the zone out, without a word. */
function otherMoment({ column, kind }: ColumnLimit, { type }: Field, value: string): LimitFinding[] {
  const isThere = `${value} IS NOT NULL`
  if (kind === 'timestamptz' && (type === 'timestamp' || type === 'date')) {
    return [
      found(isThere, 'error', 'timestamp.zone_missing', {
        message: `${column} is a moment in time, and a ${type} has no time zone.`,
        suggestion:
          'Declare the field as timestamptz with the zone in which the source writes, such as `"zone": "Europe/Berlin"`.',
      }),
    ]
  }
  if (kind !== 'timestamptz' && type === 'timestamptz') {
    return [
      found(isThere, 'error', 'timestamp.zone', {
        message: `${column} keeps no time zone, and the field has one: the value would depend on the session.`,
        suggestion: 'Make the column a timestamptz, or declare the field as timestamp or date.',
      }),
    ]
  }
  if (kind === 'date' && type === 'timestamp') {
    return [
      found(`NOT ends_with(${value}, 'T00:00:00')`, 'warning', 'date.time_lost', {
        message: `${column} keeps the day only, and this has a time.`,
        suggestion: 'Nothing to do if the day is enough; else make the column a timestamp.',
      }),
    ]
  }
  return []
}

const MAX_LABELS_SHOWN = 20

function noLabel({ column, labels = [] }: ColumnLimit, field: Field, value: string): LimitFinding[] {
  const known = Object.keys(field.values ?? {})
  // A value that only warns is kept as it is written.
  const isSure = field.type === 'enum' && field.severity !== 'warning'
  if (isSure && known.length > 0 && known.every((one) => labels.includes(one))) return []
  const shown = labels.slice(0, MAX_LABELS_SHOWN).join(', ')
  const more = labels.length > MAX_LABELS_SHOWN ? ` and ${labels.length - MAX_LABELS_SHOWN} others` : ''
  const best = `list_sort(list_transform(${listOf(labels)}, lambda s: {d: levenshtein(lower(${value}), lower(s)), s: s}))[1].s`
  // In an array it is not known here which of the items it is.
  const suggestion =
    value === 't'
      ? text(`It takes: ${shown}${more}.`)
      : `${text('Did you mean “')}, ${best}, ${text(`”? It takes: ${shown}${more}.`)}`
  return [
    {
      when: `NOT list_contains(${listOf(labels)}, ${value})`,
      broken: findingInWords('error', 'enum.column', `${column} does not take this value.`, suggestion),
    },
  ]
}

function found(when: string, severity: Severity, rule: string, words: ProblemText): LimitFinding {
  return { when, broken: findingInWords(severity, rule, words.message, text(words.suggestion)) }
}
