/**
 * How one field is read, as SQL. Most cells of a file are plain and take one regular expression. The others of a
 * line are gathered by kind into one list, so that the long way is written once per kind and not once per field:
 * every node of an expression holds a vector, and with a field each the statement did not fit into 128 MB.
 * Nothing is cast before a pattern has proved that it can be: a failing TRY_CAST costs 8 µs, a pattern 0.05 µs.
 */
import { NULL_TOKENS, type Severity } from './dataset.ts'
import { BLANKS, listOf, text } from './sql-text.ts'

/** Which long way a cell takes. */
export type Kind = 'number' | 'date' | 'id' | 'time' | 'timestamp' | 'timestamptz'

export interface FieldSql {
  /** Columns of the field's own, in layers, before it is known whether the cell is plain. */
  first: Record<string, string>[]
  /** True where the cell is plainly right. */
  plain: string
  plainValue: string
  /** Where `holds` is true of every cell of a column, or it is empty, `value` reads them: see plain-columns.ts. */
  whole: { holds: string; value: string }
  /** The long way, and what it must know of the field; without a kind `value` and `problem` say it all. */
  kind?: Kind
  entry?: Record<string, string>
  value?: string
  /** A broken rule (see `finding`), or NULL. */
  problem?: string
  /** How the value is written into JSON. */
  json: 'raw' | 'quoted' | 'escaped'
}

/** Columns of the statement that belong to one field. */
export function columnsOf(index: number, cell: string) {
  const prefix = `f${index}`
  return {
    index,
    cell,
    plain: `${prefix}_q`,
    value: `${prefix}_v`,
    /** A broken rule (see `finding`), or NULL. */
    problem: `${prefix}_p`,
    /** A column of the field's own. */
    own: (name: string) => `${prefix}_${name}`,
  }
}

export type FieldColumns = ReturnType<typeof columnsOf>

/**
 * A broken rule: 'E' or 'W', then the end of its JSON object. The rest, line, column and value, is put before it
 * where the field is known.
 */
export function finding(severity: Severity, rule: string, suggestion?: string): string {
  return findingOf(severity === 'error' ? `'E'` : `'W'`, rule, suggestion)
}

/** The same where the severity is SQL; `suggestion` is SQL too, the parts of a text. */
export function findingOf(severity: string, rule: string, suggestion?: string): string {
  const words = PROBLEM_TEXTS[rule]!
  if (!suggestion) return `concat(${severity}, ${text(findingTail(rule, words))})`
  const head = findingTail(rule, words).replace(/"suggestion":.*$/s, '"suggestion":')
  return `concat(${severity}, ${text(head)}, to_json(concat(${suggestion})), '}')`
}

/** The same in words of its own; `suggestion` is SQL, the parts of a text. */
export function findingInWords(
  severity: Severity,
  rule: string,
  message: string,
  suggestion: string,
): string {
  const head = findingTail(rule, { message, suggestion: '' }).replace(/"suggestion":""\}$/, '"suggestion":')
  return `concat(${text(severity === 'error' ? 'E' : 'W')}, ${text(head)}, to_json(concat(${suggestion})), '}')`
}

export function findingTail(rule: string, { message, suggestion }: ProblemText): string {
  return `,"rule":${JSON.stringify(rule)},"message":${JSON.stringify(message)},"suggestion":${JSON.stringify(suggestion)}}`
}

const TOKENS = listOf(NULL_TOKENS)

export function trimmed(cell: string): string {
  return `trim(${cell}, ${text(BLANKS)})`
}

/** NULL where a trimmed cell says that there is nothing. */
export function nullIfEmpty(cell: string): string {
  return `CASE WHEN strlen(${cell}) < 6 AND list_contains(${TOKENS}, ${cell}) THEN NULL ELSE ${cell} END`
}

/** Decimal text without the zeros that a cast to DECIMAL adds. */
export function withoutZeros(decimal: string): string {
  return `rtrim(rtrim(CAST(${decimal} AS VARCHAR), '0'), '.')`
}

/** Each lambda adds one member to the entries of a list. */
export function withMembers(list: string, members: [name: string, expression: string][]): string {
  return members.reduce(
    (inner, [name, expression]) =>
      `list_transform(${inner}, lambda e: struct_insert(e, ${name} := ${expression}))`,
    list,
  )
}

/** What broken rules mean in plain words, and what to do about them. */
export interface ProblemText {
  message: string
  suggestion: string
}

export const PROBLEM_TEXTS: Readonly<Record<string, ProblemText>> = {
  'value.censored': {
    message: 'The export gives only a bound here, not a number.',
    suggestion: 'Nothing is stored for this value. If you know the number, repair the line with it.',
  },
  'value.nothing': {
    message: 'This stands for no number, so the value stays empty.',
    suggestion: 'If there is a number, repair the line with it.',
  },
  'number.invalid': {
    message: 'This is not a number.',
    suggestion: 'Write digits only, or leave the cell empty.',
  },
  'number.percent': {
    message: 'This number has a percent sign, and the field is not declared as percent.',
    suggestion:
      'Declare the field as `percent` if 80 % is to be stored as 0.8. If it is to be stored as 80, remove the sign with `replace`, or write the number without it.',
  },
  'number.style': {
    message: 'This number is not written like the others in the file.',
    suggestion: 'Write it without separators between thousands.',
  },
  'number.ambiguous': {
    message:
      'The file does not settle whether decimals follow a point or a comma, so this reads in two ways.',
    suggestion:
      'Upload the file again with `--decimal dot` or `--decimal comma` (`decimal` in the API), or repair the line.',
  },
  'number.overflow': {
    message: 'This number is too large.',
    suggestion: 'Check the value in the source; whole numbers up to 9223372036854775807 can be stored.',
  },
  'integer.fraction': {
    message: 'A whole number is expected here, and this one has a fraction.',
    suggestion: 'Check that the right column was exported; write a whole number.',
  },
  'date.excel_serial': {
    message: 'This is a spreadsheet’s day number, not a date.',
    suggestion: 'Write the date as YYYY-MM-DD.',
  },
  'date.invalid': {
    message: 'This is not a date.',
    suggestion: 'Write it as YYYY-MM-DD.',
  },
  'date.ambiguous': {
    message: 'Day and month cannot be told apart, and the file does not settle which comes first.',
    suggestion:
      'Upload the file again with `--dates dmy` (day first) or `--dates mdy` (`dates` in the API), or write YYYY-MM-DD.',
  },
  'date.order': {
    message: 'Day and month stand the other way round than in the rest of the file.',
    suggestion: 'Write the date as YYYY-MM-DD.',
  },
  'date.impossible': {
    message: 'There is no such day.',
    suggestion: 'Check the date in the source and write it as YYYY-MM-DD.',
  },
  'date.implausible': {
    message: 'The year is before 1900 or after 2099.',
    suggestion: 'Check the date in the source and write it as YYYY-MM-DD.',
  },
  'time.invalid': {
    message: 'This is not a time of day.',
    suggestion: 'Write it as HH:MM or HH:MM:SS, with AM or PM if it has twelve hours.',
  },
  'time.impossible': {
    message: 'There is no such time of day.',
    suggestion: 'Check the value in the source; hours go from 0 to 23, minutes and seconds to 59.',
  },
  'time.zone': {
    message: 'This time of day names a time zone, and the field has none.',
    suggestion:
      'Leave the zone out of the export, or declare the field as timestamptz and export the day with it.',
  },
  'time.fraction_of_day': {
    message: 'This is a spreadsheet’s fraction of a day, not a time.',
    suggestion: 'Write the time as HH:MM:SS.',
  },
  'time.precision': {
    message: 'This has more digits after the second than are kept, which are six: the rest is left out.',
    suggestion: 'Nothing to do if millionths of a second are exact enough.',
  },
  'timestamp.invalid': {
    message: 'This is not a day with a time.',
    suggestion: 'Write it as YYYY-MM-DD HH:MM:SS.',
  },
  'timestamp.excel_serial': {
    message: 'This is a spreadsheet’s day number, not a day with a time.',
    suggestion: 'Write it as YYYY-MM-DD HH:MM:SS.',
  },
  'timestamp.epoch': {
    message: 'This is a count of seconds since 1970, not a day with a time.',
    suggestion: 'Write it as YYYY-MM-DD HH:MM:SS+00:00.',
  },
  'timestamp.zone': {
    message: 'This names a time zone, and the field keeps none: it would be lost.',
    suggestion:
      'Declare the field as timestamptz, or take the zone off with `"replace": [{"pattern": "(Z|[-+][0-9:]+)$", "with": ""}]` if all values have the same.',
  },
  'timestamp.zone_missing': {
    message: 'This names no time zone, and none is declared.',
    suggestion:
      'Declare the zone in which the source writes, such as `"zone": "Europe/Berlin"` or `"zone": "+02:00"`, in the field, or export the values with their offset: 2026-01-31T12:00:00+01:00.',
  },
  'timestamp.zone_unknown': {
    message: 'This names a time zone by letters that do not settle its offset.',
    suggestion: 'Write the offset: 2026-01-31T12:00:00+01:00, or Z for UTC.',
  },
  'timestamp.not_there': {
    message: 'Clocks were put forward over this time: it does not exist in the time zone.',
    suggestion: 'Check the value in the source, or write it with its offset.',
  },
  'timestamp.twice': {
    message: 'Clocks were put back over this time: it happened twice in the time zone.',
    suggestion: 'Write it with its offset.',
  },
  'uuid.invalid': {
    message: 'This is not a uuid.',
    suggestion: 'Write it as 8-4-4-4-12 hexadecimal digits: 0190f3a4-7b1c-7000-8000-000000000001.',
  },
  'json.invalid': {
    message: 'This is not JSON.',
    suggestion:
      'Check the value in the source: names and texts stand in double quotes, and nothing follows the last member.',
  },
  'json.nul': {
    message: 'This JSON has the character \\u0000 in it, which PostgreSQL cannot store.',
    suggestion: 'Remove it in the source.',
  },
  'array.invalid': {
    message: 'This is in the brackets of a list, but it cannot be read as one.',
    suggestion: 'Write the items with their separator and no brackets, or as JSON: ["one", "two"].',
  },
  'array.nested': {
    message: 'This list has lists or objects in it.',
    suggestion: 'Declare the field as json, or export plain items.',
  },
  'array.empty_item': {
    message: 'There is nothing between two separators of this list, or at its end.',
    suggestion: 'Remove the separator that is too many, or fill in the item.',
  },
  'compute.failed': {
    message: 'This cannot be computed: a value that it needs is empty, divides by zero, or is too large.',
    suggestion: 'Fill in the values that it is computed from.',
  },
  'email.invalid': {
    message: 'This is not an email address.',
    suggestion: 'Write it as name@example.com, one in a cell.',
  },
  'url.invalid': {
    message: 'This is not a web address.',
    suggestion: 'Write it whole, without blanks: https://example.com/page.',
  },
  'id.not_scientific': {
    message: 'A spreadsheet has turned this id into a rounded number; its last digits are lost.',
    suggestion:
      'Export the file again and do not open it in a spreadsheet, or format the column as text first.',
  },
  'id.maybe_rounded': {
    message: 'This id ends in zeros after 15 digits, as if a spreadsheet had rounded it.',
    suggestion: 'Compare it with the id in the source before you promote.',
  },
  'enum.unknown': {
    message: 'This value is not known here.',
    suggestion: 'Use one of the known values, or teach this workspace what it means.',
  },
  'currency.unknown': {
    message: 'This is not a currency.',
    suggestion: 'Write its code of three letters, such as USD, EUR or VND.',
  },
  'currency.contradicts': {
    message:
      'The currency next to an amount contradicts that of the line, of the header or of another amount.',
    suggestion: 'Check which one the amounts are in, and correct the line.',
  },
  'currency.open': {
    message: 'Several currencies use this sign, and nothing says which one it stands for.',
    suggestion: 'No currency is stored. Export the currency in a column of its own, or in the header.',
  },
  'period.longer_than_day': {
    message: 'This line covers more than one day, and each must be of one day.',
    suggestion: 'Export the report again with a breakdown by day.',
  },
  'header.duplicate_differs': {
    message: 'The header is there more than once, and this line’s values differ.',
    suggestion: 'The first column is used. Leave the other one out of the export if that is wrong.',
  },
  'text.replacement_character': {
    message: 'A character was lost before the file was uploaded; � stands in its place.',
    suggestion: 'Export the file again as UTF-8, or repair the line.',
  },
  'row.total': {
    message: 'This line only sums up others and was left out.',
    suggestion: 'Nothing to do. If it is a line of its own, give it a date and all its names.',
  },
  'row.subtotal': {
    message: 'This line sums up others (“all” where they have a value of their own) and was left out.',
    suggestion: 'Nothing to do. If it is a line of its own, give it the value that tells it apart.',
  },
  'structure.too_many_fields': {
    message: 'This line has more fields than the header.',
    suggestion:
      'A value with the delimiter in it probably lacks its quotes. Quote it in the source, or repair the line.',
  },
  'structure.too_few_fields': {
    message: 'This line has fewer fields than the header.',
    suggestion: 'It was probably cut off. Export the file again, or fill in what is missing.',
  },
  'structure.unterminated_quote': {
    message: 'A quote is opened in this line and never closed.',
    suggestion: 'Close or double the quote in the source and upload again.',
  },
  'structure.stray_quote': {
    message: 'There is a quote inside an unquoted value.',
    suggestion: 'Quote the whole value and double the quotes inside it.',
  },
  'structure.other_delimiter': {
    message: 'This line seems to be cut by another delimiter than the rest of the file.',
    suggestion: 'Write it with the same delimiter as the other lines and upload again, or repair the line.',
  },
  'structure.repeated_header': {
    message: 'This line repeats the header; it is no data.',
    suggestion: 'Remove it from the file and upload again. A second table belongs into a file of its own.',
  },
  'structure.continued_header': {
    message:
      'This line has text in every column where the lines below have numbers or dates, as a second line of the header has.',
    suggestion:
      'If it is data, correct its values and upload again, or repair the line. Else remove it, or leave it out.',
  },
  'structure.invalid_utf8': {
    message: 'This line has bytes that are no text in the file’s encoding.',
    suggestion: 'Export the file again as UTF-8, or enter the damaged value again.',
  },
  'structure.nul_character': {
    message: 'This line has a NUL character, which cannot be stored.',
    suggestion: 'Remove it in the source. It has been left out of what is shown.',
  },
  'structure.line_too_long': {
    message: 'This line is longer than 1 MiB.',
    suggestion: 'A quote is probably missing before it. Check the lines around it in the source.',
  },
  'structure.formula_without_value': {
    message: 'A formula in this line has no stored value, so the cell would be empty.',
    suggestion: 'Open the workbook in a spreadsheet, save it and upload it again: saving stores the values.',
  },
  'structure.merged_number': {
    message: 'A number stands in merged cells, and it cannot be told to which line it belongs.',
    suggestion: 'Unmerge the cells in the workbook, write each line’s own number and upload it again.',
  },
  'structure.repeated_name': {
    message: 'This object has the same name twice, with different values.',
    suggestion: 'Write each name once in the source, or repair the line with the right value.',
  },
  'structure.not_json': {
    message: 'This line is not a JSON object.',
    suggestion: 'Check that every line of the file is one JSON object, and that the last one is complete.',
  },
}
