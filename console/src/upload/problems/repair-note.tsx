import { count, counted } from '../../parts/format.ts'
import { sumActions } from '../state.ts'
import type { Repaired } from './use-repairs.ts'

/** What a correction changed: how many lines are wrong now, and what the plan made of it. */
export function RepairNote({ repaired, saving }: { repaired: Repaired | undefined; saving: number }) {
  if (repaired === undefined && saving === 0) return null
  return (
    <p className={`note ${saving > 0 ? 'is-work' : 'is-ok'}`} role="status">
      {saving > 0 ? `Checking ${counted(saving, 'line')} again and re-planning…` : said(repaired!)}
    </p>
  )
}

function said({ before, after, lines, line: number }: Repaired): string {
  if (lines === 0) return 'No cell of the column has this text. Nothing changed.'
  const line =
    lines === 1 && number !== undefined
      ? `Line ${count(number)} was`
      : counted(lines, 'line was', 'lines were')
  const wrong = after.invalid_count ?? 0
  const was = before.invalid_count ?? 0
  const left =
    wrong === 0 ? 'no invalid lines left' : `${counted(wrong, 'line is', 'lines are')} still invalid`
  const change = was === wrong ? ', as before' : `, ${count(was)} before`
  return `${line} checked again: ${left}${change}. ${planText(before, after)}`
}

function planText(before: Repaired['before'], after: Repaired['after']): string {
  if (after.plan_totals === null) return 'There is no plan now. Make a new one.'
  if (before.plan_digest === after.plan_digest) return 'The plan is the same.'
  const { insert = 0, update = 0 } = sumActions(after.plan_totals)
  const parts = [
    `${counted(insert, 'new row')}`,
    update > 0 && counted(update, 'changed row'),
    `${count(after.invalid_count ?? 0)} invalid`,
  ].filter(Boolean)
  return `Plan updated: ${parts.join(', ')}.`
}
