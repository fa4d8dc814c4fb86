/**
 * Everything that can be wrong with a line. A finding is a short text (whose column, severity, rule, suggestion);
 * only the lines that have one pay for turning them into JSON.
 */
import type { Severity } from '../dataset.ts'
import { text } from '../sql-text.ts'
import { finding, SEPARATOR } from './field-sql.ts'
import { headerCurrency, type Plan, type PlannedField } from './plan.ts'
import { WORDS, type Words } from './words.ts'

interface Finding {
  /** SQL that is true where the rule is broken. */
  when: string
  /** SQL of the finding's text. */
  sql: string
}

export interface Findings {
  /** True where anything may be wrong: only then are the findings gathered. */
  suspect: string
  /** The list of findings. */
  gathered: string
  /** JSON objects, joined by commas, of the findings in the column `found`. */
  errors: string
  warnings: string
}

/** Columns to report on, by number: those of the file, and three that belong to no field. */
interface Reported {
  /** `"column":…,"field":…` */
  head: string
  /** SQL of the value shown. */
  value: string
}

export function findingsOf(plan: Plan): Findings {
  const columns: Reported[] = []
  const words: Record<string, Words> = { ...WORDS }
  const line = reported(null, null, `nullif(extra, '')`)
  const values = [
    ...plan.fields.flatMap(fieldFindings),
    ...periodFindings(),
    ...crossFindings(),
    ...currencyFindings(),
    ...duplicateFindings(),
  ]
  const structure: Finding = {
    when: `flaw <> ''`,
    sql: `concat('${line}${SEPARATOR}E${SEPARATOR}structure.', flaw, '${SEPARATOR}')`,
  }
  const replacement = replacementFinding()
  const all = [structure, replacement, ...values]
  // Of a line that could not be read at all only that is said.
  const lost = `flaw IN ('not_json', 'line_too_long', 'unterminated_quote')`
  return {
    suspect: all.map(({ when }) => `(${when})`).join(' OR '),
    gathered: `CASE WHEN ${lost} THEN [${structure.sql}] ELSE list_filter([${all.map(({ when, sql }) => `CASE WHEN ${when} THEN ${sql} END`).join(',\n  ')}], lambda x: x IS NOT NULL) END`,
    errors: reports('E'),
    warnings: reports('W'),
  }

  function reported(column: string | null, field: string | null, value: string): number {
    columns.push({ head: `"column":${JSON.stringify(column)},"field":${JSON.stringify(field)}`, value })
    return columns.length
  }

  function fieldFindings({ name, title, field, mapped, at, required, sql }: PlannedField): Finding[] {
    const column = reported(mapped.header, name, at.cell)
    const number = `CAST(${at.value} AS DECIMAL(38, 9))`
    const findings: Finding[] = []
    if (sql.kind || sql.problem) {
      findings.push({
        when: `${at.problem} IS NOT NULL`,
        sql: `concat('${column}${SEPARATOR}', ${at.problem})`,
      })
    }
    const add = (when: string, rule: string, message: string, suggestion: string, as?: Severity) =>
      findings.push({
        when,
        sql: own(column, as ?? field.severity ?? 'error', rule, { message, suggestion }),
      })

    const look = 'Check the value in the source.'
    if (required) {
      const when = `${at.value} IS NULL AND ${at.problem} IS NULL`
      add(
        when,
        'required.missing',
        `${title} is empty.`,
        'Fill it in and upload again, or repair the line.',
        'error',
      )
    }
    if (field.min === 0) {
      const when = `starts_with(${at.value}, '-') AND ${number} < 0`
      add(when, 'number.min', `${title} is below 0.`, 'Check the sign and the column in the source.')
    } else if (field.min !== undefined) {
      add(`${number} < ${Number(field.min)}`, 'number.min', `${title} is below ${field.min}.`, look)
    }
    if (field.max !== undefined) {
      add(`${number} > ${Number(field.max)}`, 'number.max', `${title} is above ${field.max}.`, look)
    }
    if (field.scale !== undefined) {
      const when = `strlen(split_part(${at.value}, '.', 2)) > ${Number(field.scale)}`
      add(when, 'number.scale', `${title} has more than ${field.scale} digits after the decimal point.`, look)
    }
    if (field.maxLength !== undefined) {
      const when = `length(${at.value}) > ${Number(field.maxLength)}`
      add(
        when,
        'text.too_long',
        `${title} is longer than ${field.maxLength} characters.`,
        'Shorten it in the source.',
      )
    }
    if (field.pattern !== undefined) {
      const when = `NOT regexp_full_match(${at.value}, ${text(field.pattern)})`
      add(
        when,
        'text.pattern',
        `${title} does not have the form that is expected.`,
        `It must match ${field.pattern}.`,
      )
    }
    return findings
  }

  /** A finding in words of its own. */
  function own(column: number, severity: Severity, rule: string, said: Words): string {
    words[`${rule}#${column}`] = said
    return text(
      `${column}${SEPARATOR}${severity === 'error' ? 'E' : 'W'}${SEPARATOR}${rule}#${column}${SEPARATOR}`,
    )
  }

  function known(column: number, severity: Severity, rule: string): string {
    return `concat('${column}${SEPARATOR}', ${finding(severity, rule)})`
  }

  function periodFindings(): Finding[] {
    if (!plan.period) return []
    const { start, end, name } = plan.period
    const column = reported(start.mapped.header, name, `concat_ws(' – ', ${start.at.value}, ${end.at.value})`)
    const empty = [start, end].map(({ at }) => `(${at.value} IS NULL AND ${at.problem} IS NULL)`).join(' OR ')
    return [
      {
        when: `${start.at.value} <> ${end.at.value}`,
        sql: known(column, 'error', 'period.longer_than_day'),
      },
      {
        when: empty,
        sql: own(column, 'error', 'required.missing', {
          message: 'The day of this line is not known.',
          suggestion: 'Export the report again with a breakdown by day, or repair the line.',
        }),
      },
    ]
  }

  function crossFindings(): Finding[] {
    return (plan.input.dataset.rules ?? []).flatMap(({ name, severity, compare, message, suggestion }) => {
      const [left, comparison, right] = compare
      const one = plan.byName.get(left)
      const other = typeof right === 'number' ? String(Number(right)) : comparable(plan.byName.get(right))
      if (!one || other === undefined) return []
      const column = reported(one.mapped.header, left, one.at.cell)
      return {
        when: `NOT (${comparable(one)} ${comparison} ${other})`,
        sql: own(column, severity, name, {
          message,
          suggestion: suggestion ?? 'Check both values in the source.',
        }),
      }
    })
  }

  function currencyFindings(): Finding[] {
    const code = headerCurrency(plan)
    const currency = plan.fields.find(({ field }) => field.type === 'currency')
    if (!code || !currency) return []
    const column = reported(currency.mapped.header, currency.name, currency.at.cell)
    return [
      {
        when: `${currency.at.value} <> ${text(code)}`,
        sql: own(column, 'warning', 'currency.differs', {
          message: `The header says that amounts are in ${code}, this line names another currency.`,
          suggestion: 'The line’s own currency is stored. Check which one the amounts are in.',
        }),
      },
    ]
  }

  function duplicateFindings(): Finding[] {
    return plan.fields.flatMap(({ name, mapped }) =>
      mapped.duplicates.map((other) => ({
        when: `c${other} <> c${mapped.column} AND c${other} <> ''`,
        sql: known(reported(mapped.header, name, `c${other}`), 'warning', 'header.duplicate_differs'),
      })),
    )
  }

  /** U+FFFD stands where a character was lost before the file reached us. */
  function replacementFinding(): Finding {
    const names = plan.input.map.headers.map((header) => text(`“${header}”`))
    const cells = plan.input.map.headers.map((_, column) => `c${column}`)
    const where = `array_to_string(list_where([${names.join(', ')}], list_transform([${cells.join(', ')}], lambda x: contains(x, '\ufffd'))), ', ')`
    return {
      when: `contains(raw, '\ufffd') AND flaw <> 'invalid_utf8'`,
      sql: known(reported(null, null, where), 'warning', 'text.replacement_character'),
    }
  }

  function reports(severity: 'E' | 'W'): string {
    const part = (index: number) => `split_part(x, '${SEPARATOR}', ${index})`
    const entries = Object.entries(words)
    const keys = `[${entries.map(([key]) => text(key)).join(', ')}]`
    const said = entries.map(([key, { message }]) =>
      text(`,"rule":${JSON.stringify(key.split('#')[0])},"message":${JSON.stringify(message)},"suggestion":`),
    )
    const advice = entries.map(([, { suggestion }]) => text(JSON.stringify(suggestion)))
    const at = `list_position(${keys}, ${part(3)})`
    const column = `CAST(${part(1)} AS INTEGER)`
    const heads = `[${columns.map(({ head }) => text(head)).join(', ')}]`
    const shown = `[${columns.map(({ value }) => value).join(', ')}]`
    const json = [
      `concat('{"line":', line, ',', ${heads}[${column}], ',"value":'`,
      `coalesce(CAST(to_json(left(${shown}[${column}], 200)) AS VARCHAR), 'null'), [${said.join(', ')}][${at}]`,
      `CASE WHEN ${part(4)} <> '' THEN CAST(to_json(${part(4)}) AS VARCHAR) ELSE [${advice.join(', ')}][${at}] END, '}')`,
    ].join(', ')
    const chosen = `list_filter(found, lambda x: ${part(2)} = '${severity}')`
    return `array_to_string(list_transform(${chosen}, lambda x: ${json}), ',')`
  }
}

function comparable(planned: PlannedField | undefined): string | undefined {
  if (!planned) return undefined
  const { field, at } = planned
  const isNumber = ['integer', 'decimal', 'money', 'percent'].includes(field.type)
  return isNumber ? `CAST(${at.value} AS DECIMAL(38, 9))` : at.value
}

export function totalWarning(): string {
  const { message, suggestion } = WORDS['row.total']!
  const after = `,"rule":"row.total","message":${JSON.stringify(message)},"suggestion":${JSON.stringify(suggestion)}}`
  return `concat('{"line":', line, ',"column":null,"field":null,"value":', CAST(to_json(left(c0, 200)) AS VARCHAR), ${text(after)})`
}
