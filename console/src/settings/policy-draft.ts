import type { ReviewRules } from '../api/changes.ts'

type Rule = NonNullable<ReviewRules['raise']>[number]
type Hours = NonNullable<Rule['when']['outside_hours']>

/** A policy as it is being edited: numbers are texts, and a condition that is there is chosen, also while its field is empty. */
export interface PolicyDraft {
  readonly approvals: string
  readonly roles: readonly string[]
  readonly groups: readonly string[]
  readonly rules: readonly RuleDraft[]
  readonly keepsApprovals: boolean
  readonly trustsBackEnd: boolean
}

export interface RuleDraft {
  /** Tells the rules apart while they change places. */
  readonly id: number
  readonly name: string
  readonly approvals: string
  readonly groups: readonly string[]
  readonly when: ConditionsDraft
}

export interface ConditionsDraft {
  readonly rows_over?: string | undefined
  /** In per cent. */
  readonly share_changed_over?: string | undefined
  readonly deletes_over?: string | undefined
  readonly columns?: readonly string[] | undefined
  readonly amount_over?: { readonly column: string; readonly limit: string } | undefined
  readonly outside_hours?: Hours | undefined
  readonly first_upload_of_source?: true | undefined
}

let lastId = 0

export function newRule(): RuleDraft {
  lastId += 1
  return { id: lastId, name: '', approvals: '2', groups: [], when: { rows_over: '1000' } }
}

const WORKING_DAYS = [1, 2, 3, 4, 5]

export function newHours(): Hours {
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return { time_zone, from: '08:00', to: '18:00', days: WORKING_DAYS }
}

export function draftOf(rules: ReviewRules | undefined): PolicyDraft {
  const { base = { approvals: 1 }, raise = [] } = rules ?? {}
  return {
    approvals: String(base.approvals),
    roles: base.roles ?? [],
    groups: base.groups ?? [],
    rules: raise.map(({ name = '', approvals, groups = [], when }) => ({
      ...newRule(),
      name,
      approvals: approvals === undefined ? '' : String(approvals),
      groups,
      when: {
        rows_over: when.rows_over?.toString(),
        share_changed_over:
          when.share_changed_over === undefined
            ? undefined
            : String(Number((when.share_changed_over * 100).toFixed(6))),
        deletes_over: when.deletes_over?.toString(),
        columns: when.columns,
        amount_over: when.amount_over && {
          column: when.amount_over.column,
          limit: String(when.amount_over.limit),
        },
        outside_hours: when.outside_hours && {
          ...when.outside_hours,
          days: when.outside_hours.days ?? WORKING_DAYS,
        },
        first_upload_of_source: when.first_upload_of_source || undefined,
      },
    })),
    keepsApprovals: rules?.keep_approvals_when_unchanged ?? false,
    trustsBackEnd: rules?.trust_back_end ?? false,
  }
}

/** The rules of a draft without problems. */
export function rulesOf(draft: PolicyDraft): ReviewRules {
  return {
    base: {
      approvals: Number(draft.approvals),
      ...(draft.roles.length > 0 && { roles: [...draft.roles] }),
      ...(draft.groups.length > 0 && { groups: [...draft.groups] }),
    },
    ...(draft.rules.length > 0 && { raise: draft.rules.map(ruleOf) }),
    ...(draft.keepsApprovals && { keep_approvals_when_unchanged: true }),
    ...(draft.trustsBackEnd && { trust_back_end: true }),
  }
}

function ruleOf({ name, approvals, groups, when }: RuleDraft): Rule {
  const conditions = {
    rows_over: numberOf(when.rows_over),
    share_changed_over:
      when.share_changed_over === undefined ? undefined : Number(when.share_changed_over) / 100,
    deletes_over: numberOf(when.deletes_over),
    columns: when.columns && [...when.columns],
    amount_over: when.amount_over && {
      column: when.amount_over.column,
      limit: Number(when.amount_over.limit),
    },
    outside_hours: when.outside_hours,
    first_upload_of_source: when.first_upload_of_source,
  }
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    when: Object.fromEntries(
      Object.entries(conditions).filter(([, value]) => value !== undefined),
    ) as Rule['when'],
    ...(approvals !== '' && { approvals: Number(approvals) }),
    ...(groups.length > 0 && { groups: [...groups] }),
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

/** What is wrong with a draft, in words, by where it is: the base (undefined) or the id of a rule. */
interface DraftProblem {
  readonly rule: number | undefined
  readonly text: string
}

const WHOLE = /^\d{1,12}$/
const APPROVALS = /^([0-9]|1[0-9]|20)$/

export function problemsOf(draft: PolicyDraft, dataset: string, kind: string): DraftProblem[] {
  const base = [
    dataset !== '' &&
      kind !== '' &&
      kind !== 'upload' &&
      'Only uploads have a dataset: choose all datasets, or uploads.',
    !APPROVALS.test(draft.approvals) &&
      'Say how many approvals every change needs: a whole number from 0 to 20.',
    draft.rules.length > 50 && 'A policy has at most 50 rules.',
  ]
  return [
    ...base.filter((text) => text !== false).map((text) => ({ rule: undefined, text })),
    ...draft.rules.flatMap((rule) => problemsOfRule(rule).map((text) => ({ rule: rule.id, text }))),
  ]
}

function problemsOfRule({ name, approvals, groups, when }: RuleDraft): string[] {
  const { rows_over, share_changed_over, deletes_over, columns, amount_over, outside_hours } = when
  const isChosen = Object.values(when).some((value) => value !== undefined)
  const problems = [
    name.length > 100 && 'Its name has more than 100 characters.',
    !isChosen && 'It has no condition: choose when it applies.',
    rows_over !== undefined && !WHOLE.test(rows_over) && 'Say over how many rows: a whole number.',
    deletes_over !== undefined &&
      !WHOLE.test(deletes_over) &&
      'Say over how many deleted rows: a whole number.',
    share_changed_over !== undefined &&
      !isBetween(share_changed_over, 0, 100) &&
      'Say over which share of changed rows: 0 to 100 %.',
    columns?.length === 0 && 'Say which columns.',
    amount_over !== undefined && amount_over.column === '' && 'Say of which column the amount is.',
    amount_over !== undefined &&
      !isBetween(amount_over.limit, 0, Number.MAX_VALUE) &&
      'Say over which amount: a number of 0 or more.',
    outside_hours !== undefined &&
      !(outside_hours.from < outside_hours.to) &&
      'The working hours end before they begin.',
    outside_hours !== undefined &&
      outside_hours.time_zone.trim() === '' &&
      'Say in which time zone the hours are.',
    approvals === '' &&
      groups.length === 0 &&
      'It asks for nothing: say how many approvals, or of which group.',
    approvals !== '' && !APPROVALS.test(approvals) && 'Approvals are a whole number from 0 to 20.',
  ]
  return problems.filter((text) => text !== false)
}

function isBetween(text: string, least: number, most: number): boolean {
  const value = Number(text)
  return text.trim() !== '' && value >= least && value <= most
}

/** The list with one element a place earlier or later. */
export function moved<T>(list: readonly T[], from: number, by: -1 | 1): T[] {
  const next = [...list]
  const [one] = next.splice(from, 1)
  next.splice(from + by, 0, one!)
  return next
}
