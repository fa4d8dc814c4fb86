/** Playbooks in TypeScript: the same form and the same checks as those in YAML. */
import type { Json, Playbook } from './definition.ts'
import { checked } from './parse.ts'
import { type Problem, written as pathOf, playbookInvalid } from './problem.ts'
import type { WrittenPlaybook } from './written.ts'

export type { WrittenPlaybook, WrittenStep } from './written.ts'

/** Throws playbook_invalid with every problem. An arc to a step that there is not does not even compile. */
export function definePlaybook<const Name extends string>(written: WrittenPlaybook<Name>): Playbook {
  // Undefined fields and what is no data do not survive: what is checked is what will be kept.
  const value = JSON.parse(JSON.stringify(written)) as Json
  const { playbook, findings } = checked(value, {})
  if (playbook !== undefined) return playbook
  const problems = findings.map(({ severity, place, message, remedy }): Problem => {
    return { severity, path: pathOf(place), message, ...(remedy !== undefined && { remedy }) }
  })
  throw playbookInvalid(typeof written.name === 'string' ? written.name : 'The playbook', problems)
}
