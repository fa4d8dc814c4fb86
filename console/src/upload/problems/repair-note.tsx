import { count, counted } from '../../parts/figures.ts'
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

function said({ before, after, lines }: Repaired): string {
  const line = lines.length === 1 ? `Line ${count(lines[0]!)} was` : `${count(lines.length)} lines were`
  const wrong = after.invalid_count ?? 0
  const was = before.invalid_count ?? 0
  const left =
    wrong === 0 ? 'no line is invalid any more' : `${counted(wrong, 'line is', 'lines are')} invalid now`
  const change = was === wrong ? ', as before' : `, ${count(was)} before`
  return `${line} checked again: ${left}${change}. ${planSaid(before, after)}`
}

function planSaid(before: Repaired['before'], after: Repaired['after']): string {
  if (after.plan_totals === null) return 'There is no plan now. Make one with the button beside.'
  if (before.plan_digest === after.plan_digest) return 'The plan is the same.'
  const { insert = 0, update = 0 } = sumActions(after.plan_totals)
  const parts = [
    `${counted(insert, 'new row')}`,
    update > 0 && counted(update, 'changed row'),
    `${count(after.invalid_count ?? 0)} invalid`,
  ].filter(Boolean)
  return `Plan updated: ${parts.join(', ')}.`
}
