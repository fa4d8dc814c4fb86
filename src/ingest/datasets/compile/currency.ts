/**
 * The currency of a line: of its own column, of a header, or of a sign beside an amount. They must agree; a sign that
 * several currencies use agrees with each of them.
 */
import { CURRENCIES_BY_SIGN } from '../header-name.ts'
import { listOf } from '../sql-text.ts'
import type { Plan } from './plan.ts'

const SIGNS = listOf([...CURRENCIES_BY_SIGN.keys()])
/** |USD|AUD|…|: what each of them may stand for. */
const MEANT = listOf([...CURRENCIES_BY_SIGN.values()].map((codes) => `|${codes.join('|')}|`))

/** Columns `currency_marks` (as written), `currency_sets` (what each may mean) and `line_currency`. */
export function currencyLayers({ currency }: Plan): [name: string, expression: string][][] {
  if (!currency) return []
  const { column, header, signed } = currency
  const told = [...(column ? [column.at.value] : []), ...(header ? [`'${header}'`] : [])]
  if (signed.length === 0) return [[['line_currency', `coalesce(${told.join(', ')})`]]]
  const marks = signed.map(({ at }) => at.own('u')).join(', ')
  const sets = `list_transform(currency_marks, lambda m: list_extract(${MEANT}, list_position(${SIGNS}, upper(m))))`
  const named = `substr(list_filter(currency_sets, lambda s: strlen(s) = 5)[1], 2, 3)`
  return [
    [
      [
        'currency_marks',
        `CASE WHEN coalesce(${marks}) IS NULL THEN NULL ELSE list_distinct(string_split(concat_ws(' ', ${marks}), ' ')) END`,
      ],
    ],
    [['currency_sets', `CASE WHEN currency_marks IS NULL THEN NULL ELSE ${sets} END`]],
    [['line_currency', `coalesce(${[...told, named].join(', ')})`]],
  ]
}

/** SQL that is true where what stands beside amounts is no currency. */
export const MARK_UNKNOWN =
  'currency_sets IS NOT NULL AND len(list_filter(currency_sets, lambda s: s IS NULL)) > 0'

/** … where signs contradict the line's currency, or each other where it has none. */
export const MARKS_CONTRADICT = `currency_sets IS NOT NULL AND CASE WHEN line_currency IS NULL THEN len(list_distinct(currency_sets)) > 1 ELSE len(list_filter(currency_sets, lambda s: NOT contains(s, concat('|', line_currency, '|')))) > 0 END`

/** … where there is a sign, and nothing says which of its currencies it stands for. */
export const MARK_OPEN = `currency_sets IS NOT NULL AND line_currency IS NULL AND len(list_distinct(currency_sets)) = 1 AND currency_sets[1] IS NOT NULL`
