/** The checks of an upload: what each found, in how many lines, and the time that it took. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { IntegerOrNull, nullable, type Row, shape, Text, Type } from '../kernel/schema.ts'
import { OwnTotals } from './plan-shapes.ts'

export const UploadCheck = shape('UploadCheck', {
  check: Type.String({ examples: ['lookups'] }),
  title: Text,
  result: Type.Enum(['passed', 'warning', 'failed', 'not_run']),
  invalid: Type.Integer({ description: 'lines that it found wrong' }),
  warnings: Type.Integer({ description: 'lines with a warning, or that it left out' }),
  ms: nullable(
    Type.Number({ description: 'in the database; null: line by line while the file was read (read_ms)' }),
  ),
  rules: Type.Array(shape('CheckedRule', { rule: Text, lines: Type.Integer() })),
  own_totals: Type.Optional(OwnTotals),
})
export type UploadCheck = Row<typeof UploadCheck>

export const UploadChecks = shape('UploadChecks', {
  read_ms: nullable(
    Type.Integer({ description: 'from the first byte until every line was read and checked' }),
  ),
  plan_ms: IntegerOrNull,
  checks: Type.Array(UploadCheck),
})
export type UploadChecks = Row<typeof UploadChecks>

interface Check {
  readonly check: string
  readonly title: string
  /** Rules that it consists of; of those before a dot, all. */
  readonly rules: RegExp
  /** Steps of the database that do it; none: the reader does it line by line. */
  readonly steps: readonly string[]
}

/** In the order in which they run. A rule belongs to the first check that names it. */
const CHECKS: readonly Check[] = [
  {
    check: 'required',
    title: 'Required values',
    rules: /^(required[.]|breakdown[.](missing|partly))/,
    steps: [],
  },
  { check: 'allowed_values', title: 'Allowed values', rules: /^(enum|value)[.]/, steps: [] },
  {
    check: 'fits',
    title: 'Values fit their columns',
    rules: /^(text[.]too_long|number[.](range|scale|precision|overflow)|(table|plan)[.])/,
    steps: [],
  },
  {
    check: 'rules',
    title: 'Rules of the dataset',
    rules: /^(number[.](min|max)$|text[.]pattern|dataset[.])/,
    steps: [],
  },
  {
    check: 'types',
    title: 'Types and formats',
    rules: /^(number|integer|date|time|uuid|json|array|currency|text|boolean|identity|id[.](maybe|not))/,
    steps: [],
  },
  {
    check: 'subtotals',
    title: 'Totals and subtotals among the lines',
    rules: /^(row|breakdown|line)[.]/,
    steps: ['subtotals', 'across_lines'],
  },
  { check: 'lookups', title: 'Lookups in other tables', rules: /^lookup[.]/, steps: ['lookups'] },
  { check: 'keys', title: 'Repeated keys', rules: /^key[.]/, steps: ['keys_and_types'] },
  { check: 'parents', title: 'Parents are known', rules: /^(id|entity)[.]/, steps: ['parents'] },
  { check: 'compare', title: 'Comparison with production', rules: /^$/, steps: ['compare', 'conflicts'] },
  { check: 'references', title: 'Foreign keys', rules: /^reference[.]/, steps: ['references'] },
  { check: 'deletes', title: 'Rows to delete', rules: /^$/, steps: ['deletes'] },
  { check: 'totals', title: 'Control totals', rules: /^$/, steps: ['totals'] },
  { check: 'own_totals', title: 'File’s own totals', rules: /^$/, steps: ['own_totals'] },
  { check: 'digest', title: 'Digest of the plan', rules: /^$/, steps: ['digest'] },
  { check: 'policy', title: 'Review policy', rules: /^$/, steps: ['policy'] },
]
/** A rule that no check names: of the dataset itself. */
const OWN_RULES = 'rules'

interface Found {
  readonly rule: string
  readonly invalid: number
  readonly lines: number
}

/** Of an upload that the caller may see. */
export async function readChecks(db: Queryable, upload: string): Promise<UploadChecks> {
  const { rows } = await db.query<{
    read_ms: number | null
    plan_ms: number | null
    is_read: boolean
    steps: { step: string; ms: number }[]
    found: Found[]
    own_totals: OwnTotals | null
    refuses: boolean
  }>(
    `select u.read_ms, u.plan_took_ms as plan_ms, u.line_count is not null as is_read, u.steps, u.own_totals,
            coalesce((select d.definition ->> 'ownTotals' = 'refuse' from iu_core.ingest_dataset d where d.dataset = u.dataset), false) as refuses,
            (select coalesce(json_agg(f), '[]') from (
               select p.rule, count(*) filter (where p.wrong)::integer as invalid, count(*)::integer as lines
                 from (select s.row_number, e.value ->> 'rule' as rule, bool_or(e.wrong) as wrong
                         from (select * from public.staging_rows r where r.upload_id = $1
                                  and (r.validation_status <> 'valid' or r.validation_warnings <> '[]') offset 0) s,
                              lateral (select value, true as wrong from jsonb_array_elements(s.validation_errors)
                                       union all select value, false from jsonb_array_elements(s.validation_warnings)) e
                        where s.row_type = u.reading -> 'layout' ->> 'leaf' and e.value ->> 'rule' is not null
                        group by 1, 2) p
                group by 1 order by 1) f) as found
       from iu_core.v_ingest_upload u where u.upload_id = $1`,
    [upload],
  )
  const { read_ms, plan_ms, is_read, steps, found, own_totals, refuses } = rows[0]!
  const checkOf = (rule: string) => CHECKS.find(({ rules }) => rules.test(rule))?.check ?? OWN_RULES
  return {
    read_ms,
    plan_ms,
    checks: CHECKS.filter(
      ({ check }) =>
        (check !== 'deletes' || steps.some(({ step }) => step === check)) &&
        (check !== 'own_totals' || own_totals !== null),
    ).map((check) => {
      if (check.check === 'own_totals') return ownTotalsCheck(check, own_totals!, refuses, steps)
      const of = found.filter(({ rule }) => checkOf(rule) === check.check)
      const ran = steps.filter(({ step }) => check.steps.includes(step))
      const invalid = of.reduce((sum, one) => sum + one.invalid, 0)
      const warnings = of.reduce((sum, one) => sum + one.lines - one.invalid, 0)
      const hasRun = check.steps.length === 0 ? is_read : ran.length > 0
      return {
        check: check.check,
        title: check.title,
        result: invalid > 0 ? 'failed' : warnings > 0 ? 'warning' : hasRun ? 'passed' : 'not_run',
        invalid,
        warnings,
        ms: ran.length === 0 ? null : ran.reduce((sum, { ms }) => sum + ms, 0),
        rules: of.map(({ rule, lines }) => ({ rule, lines })),
      }
    }),
  }
}

/** A total that disagrees is a warning; of a dataset that refuses such files it fails. */
function ownTotalsCheck(
  { check, title, steps }: Check,
  own_totals: OwnTotals,
  refuses: boolean,
  ran: readonly { step: string; ms: number }[],
): UploadCheck {
  const { disagree, agree } = own_totals
  const took = ran.find(({ step }) => steps.includes(step))
  return {
    check,
    title,
    result: disagree > 0 ? (refuses ? 'failed' : 'warning') : agree > 0 ? 'passed' : 'not_run',
    invalid: refuses ? disagree : 0,
    warnings: refuses ? 0 : disagree,
    ms: took?.ms ?? null,
    rules: [],
    own_totals,
  }
}
