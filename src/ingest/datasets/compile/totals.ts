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

const NUMBERS = new Set(['integer', 'decimal', 'money', 'percent'])

export function isTotal(plan: Plan): string {
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

  const lacking = [...sources, ...(day ? [day] : [])].map(isEmpty).filter((empty) => empty !== 'false')
  const nameless =
    named.length > 0 && numbers.length > 0
      ? `(${named.map(isEmpty).join(' AND ')} AND coalesce(${numbers.map(({ at }) => at.value).join(', ')}) IS NOT NULL)`
      : 'false'
  const cases = [
    lacking.length > 0 ? `WHEN ${lacking.join(' OR ')} THEN ${nameless} OR ${says(total)}` : '',
    day && !day.isPlain
      ? `WHEN list_contains([${WHOLE_PERIOD.map(text).join(', ')}], lower(trim(${day.at.cell}))) THEN true`
      : '',
    day ? '' : `WHEN ${says([COUNTED, ...own].join('|'))} THEN true`,
    day ? '' : bareTotal(plan, named, says(total)),
  ].filter((part) => part !== '')
  if (cases.length === 0) return 'false'
  return `(flaw IN ('', 'too_few_fields') AND CASE ${cases.join(' ')} ELSE false END)`
}

/** Without a day in each line the word counts where nothing but names and numbers is filled in. */
function bareTotal(plan: Plan, named: PlannedField[], says: string): string {
  const rest = plan.fields.filter(
    (planned) =>
      !NUMBERS.has(planned.field.type) && planned.field.type !== 'date' && !named.includes(planned),
  )
  return rest.length > 0 ? `WHEN ${rest.map(isEmpty).join(' AND ')} AND ${says} THEN true` : ''
}
