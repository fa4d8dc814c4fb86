import type { ReviewPolicy, ReviewRules } from '../api/changes.ts'
import { CHANGE_KINDS } from '../changes/change-status.ts'
import { count, counted } from '../parts/format.ts'

/** "Of the dataset ads, uploads", "of everything". */
export function scopeText({ dataset, kind }: Pick<ReviewPolicy, 'dataset' | 'kind'>): string {
  const what = kind === null ? 'changes of every kind' : `changes of the kind ${CHANGE_KINDS[kind]}`
  return dataset === null ? `For ${what}` : `For ${what} to the dataset ${dataset}`
}

/** What the rules say, a sentence each. */
export function rulesText({
  base,
  raise = [],
  keep_approvals_when_unchanged,
  trust_back_end,
}: ReviewRules): string[] {
  const roles = base.roles?.length ? `; only approvals of the role ${base.roles.join(' or ')} count` : ''
  return [
    `A change needs ${needText(base) || 'no approval'}${roles}.`,
    ...raise.map(
      ({ name, when, ...need }) =>
        `${name ? `${name}: it` : 'It'} needs ${needText(need) || 'nothing more'} where ${whenText(when)}.`,
    ),
    ...(keep_approvals_when_unchanged
      ? ['A plan that is made again and writes the same keeps its approvals.']
      : []),
    ...(trust_back_end ? ['Approvals that back-end code gives for members count as theirs.'] : []),
  ]
}

/** `2 approvals and one of the group Finance`; empty: nothing. */
export function needText({ approvals, groups }: { approvals?: number; groups?: readonly string[] }): string {
  const parts = [
    ...(approvals ? [counted(approvals, 'approval')] : []),
    ...(groups ?? []).map((group) => `one of the group ${group}`),
  ]
  return parts.join(' and ')
}

function whenText(when: NonNullable<ReviewRules['raise']>[number]['when']): string {
  const parts = [
    ...(when.rows_over === undefined ? [] : [`more than ${counted(when.rows_over, 'row')} are written`]),
    ...(when.share_changed_over === undefined
      ? []
      : [`more than ${Math.round(when.share_changed_over * 1000) / 10} % of the rows change`]),
    ...(when.deletes_over === undefined
      ? []
      : [`more than ${counted(when.deletes_over, 'row')} are deleted`]),
    ...(when.columns === undefined ? [] : [`${when.columns.join(' or ')} changes`]),
    ...(when.amount_over === undefined
      ? []
      : [
          `the differences of ${when.amount_over.column} sum up to more than ${count(when.amount_over.limit)}`,
        ]),
    ...(when.outside_hours === undefined
      ? []
      : [
          `it is outside ${when.outside_hours.from} to ${when.outside_hours.to} (${when.outside_hours.time_zone})`,
        ]),
    ...(when.first_upload_of_source ? ['it is the first upload of its source'] : []),
  ]
  return parts.join(' and ')
}
