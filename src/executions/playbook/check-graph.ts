/** Steps and the arcs between them. */
import type { Playbook, Step } from './definition.ts'
import type { Findings, Place } from './problem.ts'
import { didYouMean } from './suggestion.ts'

export function checkGraph(playbook: Playbook, findings: Findings): void {
  const names = new Set<string>()
  playbook.steps.forEach(({ step }, index) => {
    if (names.has(step)) {
      findings.error(['steps', index, 'step'], `there are two steps ${step}`, {
        remedy: 'Give one of them another name',
      })
    }
    names.add(step)
  })
  if (playbook.steps.length === 0) return
  refuseUnknown(playbook.start, names, ['start'], findings)
  for (const [index, step] of playbook.steps.entries()) {
    checkArcs(step, ['steps', index, 'next', 'arcs'], names, findings)
    const { wait } = step
    if (wait?.kind === 'event' && wait.since !== undefined)
      refuseUnknown(wait.since, names, ['steps', index, 'wait', 'since'], findings)
  }
  warnOfUnreachable(playbook, findings)
}

function checkArcs({ next }: Step, place: Place, names: ReadonlySet<string>, findings: Findings): void {
  const always = next.mode === 'exclusive' ? next.arcs.findIndex(({ when }) => when === undefined) : -1
  next.arcs.forEach(({ step }, index) => {
    refuseUnknown(step, names, [...place, index, 'step'], findings)
    if (always !== -1 && index > always) {
      findings.warning([...place, index], 'this arc is never taken: the one before it has no condition', {
        remedy: 'Put it above, or write next: {mode: inclusive, arcs: …} to take every arc that holds',
      })
    }
  })
}

function refuseUnknown(step: string, names: ReadonlySet<string>, place: Place, findings: Findings): void {
  if (names.has(step)) return
  const known = [...names]
  const list = `The steps are ${known.slice(0, 12).join(', ')}${known.length > 12 ? ' …' : ''}`
  findings.error(place, `there is no step ${step}`, { remedy: didYouMean(step, known) ?? list })
}

function warnOfUnreachable({ start, steps }: Playbook, findings: Findings): void {
  const byName = new Map(steps.map((step) => [step.step, step]))
  const reached = new Set<string>()
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const step = byName.get(name)
    if (step === undefined || reached.has(name)) continue
    reached.add(name)
    waiting.push(...step.next.arcs.map((arc) => arc.step))
  }
  // An unknown start reaches nothing; that is one error, not a warning for each step.
  if (reached.size === 0) return
  steps.forEach(({ step }, index) => {
    if (!reached.has(step)) findings.warning(['steps', index, 'step'], `no arc leads to the step ${step}`)
  })
}
