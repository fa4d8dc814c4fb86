/**
 * Lines that only sum up others. The word alone does not make one: a campaign may be called Total, and then its
 * line has a date and all the names it needs.
 */
import { text } from '../sql-text.ts'
import { identityField, isEmpty, type Plan, type PlannedField } from './plan.ts'

const TOTAL =
  '(?:grand total|sub-?total|total(?:e|es|s|en|t)?|gesamt(?:summe|ergebnis)?|summe|suma|totaux|total general|total général|total geral|totale complessivo|tổng(?: cộng| số)?|итого|合計|总计|總計|합계)'
/** With a colon or a count it can hardly be a name. */
const COUNTED = `${TOTAL}\\s*[:：].*|total of [0-9.,]+ .*|total (?:de|di|von|aus) [0-9.,]+ .*|tổng(?: cộng)?(?: của)? [0-9.,]+ .*|results from [0-9.,]+ .*`
const WHOLE_PERIOD = [
  'all',
  'alle',
  'tous',
  'toutes',
  'todos',
  'todas',
  'todo',
  'tutti',
  'tutte',
  'total',
  'gesamt',
  'tất cả',
]
/** `All ages`, `Alle Altersgruppen`. */
const ALL_OF_THEM =
  '(?:all|alle|tous les|toutes les|todos los|todas las|todos os|todas as|tutti i|tutte le|tất cả) .{1,40}'

const NUMBERS = new Set(['integer', 'decimal', 'money', 'percent'])

/**
 * SQL of the rule by which a line is left out, or NULL. It takes positive evidence: a label, or figures with neither a
 * name nor a day. A line that has a day and has lost its names (merged cells of a spreadsheet do that) is an error of its
 * own; whether its figures are the sum of others is worked out when all lines are staged (fn_ingest_check_sums).
 */
export function leftOutRule(plan: Plan): string {
  const subtotal = breakdownLabel(plan)
  const cases = [
    ...totalEvidence(plan).map((evidence) => `WHEN ${evidence} THEN 'row.total'`),
    ...(subtotal === 'false' ? [] : [`WHEN ${subtotal} THEN 'row.subtotal'`]),
  ]
  if (cases.length === 0) return 'CAST(NULL AS VARCHAR)'
  return `CASE WHEN flaw NOT IN ('', 'too_few_fields') THEN NULL ${cases.join(' ')} END`
}

/** Conditions each of which makes a line a total. */
function totalEvidence(plan: Plan): string[] {
  const { dataset, platform } = plan.input
  const own = dataset.platforms[platform]?.totals ?? []
  const sources = plan.rows.flatMap((row) => {
    const name = row.identity && identityField(row, plan.input.map)
    return name && plan.byName.has(name) ? [plan.byName.get(name)!] : []
  })
  const named = plan.rows
    .flatMap((row) => [row.identity?.id, row.identity?.name])
    .flatMap((name) => (name && plan.byName.has(name) ? [plan.byName.get(name)!] : []))
  const numbers = plan.fields.filter(({ field }) => NUMBERS.has(field.type))
  const day = plan.fields.find(({ field }) => field.type === 'date' && field.required)
  const cells = [...new Set(['c0', ...named.map(({ at }) => at.cell)])]
  const says = (pattern: string) =>
    `len(list_filter([${cells.join(', ')}], lambda x: regexp_full_match(trim(x, ' \u00a0'), ${text(`(?i:${pattern})`)}))) > 0`
  const total = [`${TOTAL}\\.?`, COUNTED, ...own].join('|')

  const noDay = day ? isEmpty(day) : noOneDay(plan)
  const lacking = [...sources.map(isEmpty), noDay].filter((empty) => empty !== 'false')
  const nameless =
    named.length > 0 && numbers.length > 0
      ? `(${[...named.map(isEmpty), noDay].join(' AND ')} AND coalesce(${numbers.map(({ at }) => at.value).join(', ')}) IS NOT NULL)`
      : 'false'
  return [
    lacking.length > 0 ? `(${lacking.join(' OR ')}) AND (${nameless} OR ${says(total)})` : '',
    day && !day.isPlain ? `list_contains(${WHOLE}, lower(trim(${day.at.cell})))` : '',
    day ? '' : says([COUNTED, ...own].join('|')),
    day ? '' : bareTotal(plan, named, says(total)),
  ].filter((evidence) => evidence !== '')
}

const WHOLE = `[${WHOLE_PERIOD.map(text).join(', ')}]`

/** Where the day comes from a period: it is longer than a day, or not there at all. */
function noOneDay({ period }: Plan): string {
  if (!period) return 'false'
  const { start, end, at } = period
  const broken = [start, end].filter(({ isPlain }) => !isPlain).map((one) => `${one.at.problem} IS NULL`)
  return `(${[`${at.value} IS NULL`, ...broken].join(' AND ')})`
}

/** Without a day in each line the word counts where nothing but names and numbers is filled in. */
function bareTotal(plan: Plan, named: PlannedField[], says: string): string {
  const rest = plan.fields.filter(
    (planned) =>
      !NUMBERS.has(planned.field.type) && planned.field.type !== 'date' && !named.includes(planned),
  )
  return rest.length > 0 ? `${rest.map(isEmpty).join(' AND ')} AND ${says}` : ''
}

/**
 * The fields by which figures are broken down further, such as age and gender: what the leaf asks for in its header and
 * has in its key, other than names and days.
 */
export function breakdownGroups({ rows, byName, input }: Plan): PlannedField[][] {
  const leaf = rows.at(-1)
  if (!leaf || leaf.identity) return []
  const keys = leaf.key.map((column) => leaf.columns[column]!)
  const names = new Set(input.dataset.rows.flatMap(({ identity }) => [identity?.id, identity?.name]))
  return leaf.requires
    .map((need) => need.split('|'))
    .filter((group) =>
      group.every(
        (name) =>
          keys.includes(name) &&
          !names.has(name) &&
          ['enum', 'text'].includes(input.dataset.fields[name]!.type),
      ),
    )
    .map((group) => group.flatMap((name) => byName.get(name) ?? []))
    .filter((group) => group.length > 0)
}

/** `All` where an age is expected: the line sums up those of every age. A free text may be called so. */
function breakdownLabel(plan: Plan): string {
  const labels = breakdownGroups(plan)
    .flat()
    .filter(({ field, isPlain }) => field.type === 'enum' && !isPlain)
    .map(({ at }) => `${at.problem} IS NOT NULL AND ${saysAll(at.cell)}`)
  return labels.length > 0 ? `(${labels.map((label) => `(${label})`).join(' OR ')})` : 'false'
}

function saysAll(cell: string): string {
  const word = `lower(trim(${cell}, ' \u00a0'))`
  return `(list_contains(${WHOLE}, ${word}) OR regexp_full_match(${word}, ${text(`(?i:${TOTAL}|${ALL_OF_THEM})`)}))`
}
