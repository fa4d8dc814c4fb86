/** From text to a playbook, with every problem in it at once. */
import { type CheckOptions, checkPlaybook } from './check.ts'
import type { Json, Playbook } from './definition.ts'
import { Origins } from './origins.ts'
import { type Finding, Findings, type Problem, playbookInvalid } from './problem.ts'
import { readPlaybook } from './read-playbook.ts'
import { readSource } from './source.ts'

export { type CheckOptions, checkPlaybook } from './check.ts'
export { calledPlaybooks } from './check-calls.ts'
export { type Problem, playbookInvalid, problemText } from './problem.ts'

export interface Parsed {
  /** Undefined when one of the problems is an error. */
  readonly playbook: Playbook | undefined
  /** Errors and warnings, in the order of the text. */
  readonly problems: readonly Problem[]
}

/** YAML or JSON, as people write it or as it is run. */
export function parsePlaybook(text: string, options: CheckOptions = {}): Parsed {
  const source = readSource(text)
  if (source.value === undefined)
    return { playbook: undefined, problems: source.problems(source.findings.all) }
  const { playbook, findings } = checked(source.value, options)
  return { playbook, problems: source.problems(findings) }
}

/** For one who wants the playbook or an error. */
export function requirePlaybook(text: string, options: CheckOptions = {}): Playbook {
  const { playbook, problems } = parsePlaybook(text, options)
  if (playbook !== undefined) return playbook
  throw playbookInvalid(nameIn(text) ?? 'The playbook', problems)
}

/** What was written, brought to its form and checked; places are those of the writing. */
export function checked(
  value: Json,
  options: CheckOptions,
): { playbook: Playbook | undefined; findings: readonly Finding[] } {
  const origins = new Origins()
  const reading = new Findings()
  const playbook = readPlaybook(value, origins, reading)
  if (playbook === undefined) return { playbook: undefined, findings: reading.all }
  const checking = checkPlaybook(playbook, options).all.map((finding) => ({
    ...finding,
    place: origins.of(finding.place),
  }))
  const findings = [...reading.all, ...checking]
  const refused = findings.some(({ severity }) => severity === 'error')
  return { playbook: refused ? undefined : playbook, findings }
}

function nameIn(text: string): string | undefined {
  return /^\s*"?name"?\s*:\s*["']?([a-z][\w.:-]{0,62})/m.exec(text)?.[1]
}
