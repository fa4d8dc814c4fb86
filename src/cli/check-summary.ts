/** What `stagedoor check` found, as Markdown. Whatever a file says is shown as text: no cell becomes a link, a picture or a mention. */
import { OWN_TOTALS_DISAGREE } from '../ingest/plan.ts'
import type { UploadRisk } from '../ingest/risk.ts'
import type { ProblemKind } from '../ingest/staged-rows.ts'
import type { ControlTotal, Upload } from '../ingest/uploads.ts'
import type { StagedoorError } from '../kernel/errors.ts'
import { formatCount, plural } from './format.ts'
import type { LineProblem } from './upload-problems.ts'

export interface CheckedFile {
  readonly file: string
  /** As far as it came; undefined: it could not be read at all. */
  readonly upload?: Omit<Upload, 'upload_id'>
  readonly kinds?: readonly ProblemKind[]
  readonly problems?: readonly LineProblem[]
  readonly risk?: UploadRisk
  readonly error?: Pick<StagedoorError, 'code' | 'message' | 'hint' | 'details'>
  /** Why it could not be submitted. */
  readonly thrown?: StagedoorError
}

const MAX_KINDS = 20
const MAX_FACTS = 20
/** Of a cell of a table. */
const MAX_CELL = 200

export function checkSummary(files: readonly CheckedFile[]): string {
  const refused = files.filter(({ thrown }) => thrown !== undefined).length
  const title =
    refused === 0
      ? `${plural(files.length, 'file')} checked, all can be submitted for a review`
      : `${plural(files.length, 'file')} checked, ${refused} cannot be submitted`
  return [`## Stagedoor: ${title}`, ...files.map(fileSummary)].join('\n\n')
}

function fileSummary({ file, upload, kinds = [], problems = [], risk, error, thrown }: CheckedFile): string {
  const parts = [`### ${thrown === undefined ? '✅' : '❌'} ${inline(file)}`]
  if (error)
    parts.push(`**${error.code}**: ${inline(error.message)}. ${inline(error.hint)}`, ...statementsOf(error))
  if (upload) {
    const { line_count: lines, invalid_count: invalid, skipped_count: left, warning_count: warned } = upload
    parts.push(
      `${plural(lines ?? 0, 'line')}: ${formatCount(invalid ?? 0)} invalid, ${formatCount(left ?? 0)} left out, ${formatCount(warned ?? 0)} with a warning.`,
    )
    if (upload.plan_refusal !== null) parts.push(`**The plan is refused**: ${inline(upload.plan_refusal)}`)
    if (upload.plan_totals !== null) parts.push(totalsTable(upload.plan_totals))
    if (upload.control.length > 0) parts.push(controlTable(upload.control))
    const notes = [...upload.notes, ...upload.plan_notes]
    if (notes.length > 0) parts.push(notes.map(({ message }) => `- ${inline(message)}`).join('\n'))
    if (upload.plan_refusal?.startsWith(OWN_TOTALS_DISAGREE))
      parts.push('The totals of the file are wrong, or its lines are.')
  }
  if (kinds.length > 0) parts.push(problemTables(kinds, problems))
  if (risk) parts.push(riskTable(risk))
  return parts.join('\n\n')
}

/** What would help, where the database says it. */
function statementsOf({ details }: NonNullable<CheckedFile['error']>): string[] {
  const { statements } = details
  if (!Array.isArray(statements) || statements.length === 0) return []
  return [`\`\`\`sql\n${statements.map((one) => String(one).replaceAll('```', '')).join('\n')}\n\`\`\``]
}

function totalsTable(totals: NonNullable<Upload['plan_totals']>): string {
  const actions = [...new Set(Object.values(totals).flatMap((counts) => Object.keys(counts)))]
  return table(
    ['would change', ...actions],
    Object.entries(totals).map(([type, counts]) => [
      type,
      ...actions.map((action) => formatCount(counts[action as keyof typeof counts] ?? 0)),
    ]),
  )
}

function controlTable(control: readonly ControlTotal[]): string {
  const part = (total: ControlTotal, name: 'read' | 'valid' | 'written' | 'difference') =>
    String((total as Record<string, unknown>)[name] ?? '')
  return table(
    ['control total', 'read', 'valid', 'written', 'change of the table'],
    control.map((total) => [
      total.title,
      part(total, 'read'),
      part(total, 'valid'),
      part(total, 'written'),
      part(total, 'difference'),
    ]),
  )
}

function problemTables(kinds: readonly ProblemKind[], problems: readonly LineProblem[]): string {
  const more = kinds.length > MAX_KINDS ? `\n\n… and ${kinds.length - MAX_KINDS} more kinds of problems.` : ''
  const shown = problems.map(({ line, severity, column, value, message, suggestion }) => [
    String(line),
    severity,
    column ?? '',
    value ?? '',
    [message, suggestion].filter((text) => text).join(' '),
  ])
  return [
    table(
      ['problem', 'column', 'lines', 'for example'],
      kinds
        .slice(0, MAX_KINDS)
        .map(({ severity, rule, column, lines, message }) => [
          `${severity}: ${rule}`,
          column ?? '',
          formatCount(lines),
          message,
        ]),
    ) + more,
    ...(shown.length === 0
      ? []
      : [
          `<details><summary>The first lines with problems</summary>\n\n${table(['line', '', 'column', 'value', 'what is wrong'], shown)}\n\n</details>`,
        ]),
  ].join('\n\n')
}

function riskTable({ facts, compared_uploads: compared, not_computed: left }: UploadRisk): string {
  const unusual = facts.filter(({ level }) => level !== 'ok')
  const basis =
    compared === 0
      ? 'nothing of this source was promoted before'
      : `compared with the last ${plural(compared, 'promoted upload')} of this source`
  const note = left.length > 0 ? ` ${plural(left.length, 'column')} not looked at.` : ''
  if (unusual.length === 0) return `Risk: nothing unusual (${basis}).${note}`
  const rows = unusual
    .slice(0, MAX_FACTS)
    .map(({ level, row_type, column, fact, value, usual, values = [], days = [], reason }) => [
      level,
      column === null ? row_type : `${row_type}.${column}`,
      fact.replaceAll('_', ' '),
      String(value),
      usual === null ? '' : String(usual),
      [...values, ...days, ...(reason === undefined ? [] : [reason])].join(', '),
    ])
  const more = unusual.length > MAX_FACTS ? `\n\n… and ${unusual.length - MAX_FACTS} more.` : ''
  return `Risk (${basis}).${note}\n\n${table(['level', 'of', 'what', 'value', 'usually', ''], rows)}${more}`
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inline).join(' | ')} |`
  return [line(titles), `| ${titles.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n')
}

/** One line of plain text: every character that could mean something in Markdown or HTML is escaped, and @ notifies nobody. */
export function inline(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const short = line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line
  return short
    .replace(/[\\`*_{}[\]#|~$^]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/@/g, '&#64;')
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}&#46;`)
}
