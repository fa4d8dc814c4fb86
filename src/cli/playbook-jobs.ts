/** Jobs of the kind playbook_start name a playbook: what would make each of them fail is said when they are set up. */
import pc from 'picocolors'
import type { Queryable } from '../db/connection.ts'
import { nearest } from '../executions/playbook/suggestion.ts'
import { listPlaybooks } from '../executions/shown-playbooks.ts'
import type { Output } from './output.ts'

export const PLAYBOOK_START = 'playbook_start'

/** Undefined: nothing. `named` is undefined where none is named. */
export async function whatIsWrongWith(
  db: Queryable,
  named: string | undefined,
  how: string,
): Promise<string | undefined> {
  if (named === undefined) return `Its jobs name no playbook, so each of them will fail. ${how}`
  // A template is known when the event is there.
  if (named.includes('{')) return undefined
  const playbooks = await listPlaybooks(db, { limit: 1000 })
  const found = playbooks.find(({ name }) => name === named)
  if (found?.disabled_at) return `The playbook ${named} is disabled: \`stagedoor playbook enable ${named}\``
  if (found) return undefined
  const meant = nearest(
    named,
    playbooks.map(({ name }) => name),
  )
  const remedy =
    meant === undefined ? `\`stagedoor playbook add FILE\` registers it` : `Did you mean ${meant}?`
  return `There is no playbook ${named} yet, so its jobs will fail. ${remedy}`
}

export function warn(output: Output, wrong: string | undefined): void {
  if (wrong !== undefined) output.line(pc.yellow(`! ${wrong}`))
}
