/** Playbooks that call playbooks: none may come back to itself. */
import type { Playbook } from './definition.ts'
import type { Findings } from './problem.ts'

/** Undefined: there is none of that name. */
export type PlaybookOf = (name: string) => Playbook | undefined

/** What it starts, by name; for one who fetches them before checking. */
export function calledPlaybooks({ steps }: Playbook): string[] {
  const names = steps.flatMap(({ tools }) =>
    tools.flatMap(({ tool, call }) => (tool === 'playbook' && call !== undefined ? [call] : [])),
  )
  return [...new Set(names)]
}

export function checkCalls(playbook: Playbook, findings: Findings, playbooks?: PlaybookOf): void {
  playbook.steps.forEach(({ tools }, index) => {
    tools.forEach(({ tool, call }, position) => {
      if (tool !== 'playbook' || call === undefined) return
      const place = ['steps', index, 'tools', position, 'call']
      const circle = circleFrom(call, playbook.name, playbooks)
      if (circle?.length === 1) findings.error(place, `the playbook ${playbook.name} calls itself`)
      else if (circle !== undefined) {
        findings.error(
          place,
          `the playbooks call each other in a circle: ${[playbook.name, ...circle].join(' → ')}`,
        )
      } else if (playbooks !== undefined && playbooks(call) === undefined) {
        findings.warning(place, `there is no playbook ${call} yet`, {
          remedy: 'Register it before this one is started',
        })
      }
    })
  })
}

/** The way from `first` to `target`, both included; each playbook is looked at once. */
function circleFrom(first: string, target: string, playbooks?: PlaybookOf): string[] | undefined {
  if (first === target) return [first]
  const cameFrom = new Map<string, string | undefined>([[first, undefined]])
  const waiting = [first]
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const called = playbooks?.(name)
    for (const next of called === undefined ? [] : calledPlaybooks(called)) {
      if (next === target) return [...wayTo(name, cameFrom), target]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, name)
      waiting.push(next)
    }
  }
  return undefined
}

function wayTo(name: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = []
  for (let at: string | undefined = name; at !== undefined; at = cameFrom.get(at)) way.unshift(at)
  return way
}
