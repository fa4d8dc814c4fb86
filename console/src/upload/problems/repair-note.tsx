import { count, counted } from '../../parts/figures.ts'
import { sumActions } from '../state.ts'
import { ACTION_WORDS } from '../words.ts'
import type { Repaired } from './use-repairs.ts'

/** What a correction changed: how many lines are wrong now, and what the plan made of it. */
export function RepairNote({ repaired, saving }: { repaired: Repaired | undefined; saving: number }) {
  if (repaired === undefined && saving === 0) return null
  return (
    <p className={`note ${saving > 0 ? 'is-work' : 'is-ok'}`} role="status">
      {saving > 0 ? `Checking ${counted(saving, 'line')} again and planning anew…` : said(repaired!)}
    </p>
  )
}

function said({ before, after, lines }: Repaired): string {
  const line = lines.length === 1 ? `Line ${count(lines[0]!)} was` : `${count(lines.length)} lines were`
  const wrong = after.invalid_count ?? 0
  const was = before.invalid_count ?? 0
  const left =
    wrong === 0 ? 'no line is wrong any more' : `${counted(wrong, 'line is', 'lines are')} wrong now`
  const change = was === wrong ? ', as before' : `, ${count(was)} before`
  return `${line} checked again: ${left}${change}. ${planSaid(before, after)}`
}

function planSaid(before: Repaired['before'], after: Repaired['after']): string {
  if (after.plan_totals === null) return 'There is no plan now: make one on the right.'
  const old = sumActions(before.plan_totals)
  const now = sumActions(after.plan_totals)
  const differences = (['insert', 'update', 'unchanged', 'skipped', 'refused'] as const)
    .filter((action) => (old[action] ?? 0) !== (now[action] ?? 0))

    .map((action) => `${ACTION_WORDS[action]} ${count(old[action] ?? 0)} → ${count(now[action] ?? 0)}`)
  if (before.plan_digest === after.plan_digest || differences.length === 0)
    return 'The plan has the same totals.'
  return `The plan was made anew: ${differences.join(', ')}.`
}
