/** Handlers that the steps call: who has them, and which nobody has. */
import pc from 'picocolors'
import type { Queryable } from '../../../db/connection.ts'
import { planOf } from '../../../executions/machine/plan.ts'
import type { Playbook } from '../../../executions/playbook/definition.ts'
import { didYouMean } from '../../../executions/playbook/suggestion.ts'
import { missingHandlers } from '../../../executions/shown-engines.ts'
import type { PlaybookHandlers } from '../../../executions/tool.ts'
import type { Output } from '../../output.ts'

/** None without a file. One that exports none is named: it was given to be used. */
export async function handlersOf(output: Output, file: string | undefined): Promise<PlaybookHandlers> {
  if (file === undefined) return {}
  const { EXPORTED, loadPlaybookHandlers } = await import('../../../executions/handlers-file.ts')
  const handlers = await loadPlaybookHandlers(file)
  if (handlers === undefined)
    output.note(pc.yellow(`! ${file} has no export ${EXPORTED}: it brings no handlers`))
  return handlers ?? {}
}

/** Said before the first of ten thousand items fails for it. */
export async function warnOfMissing(
  output: Output,
  db: Queryable,
  playbook: Playbook,
  own: readonly string[],
  how = 'Give its file with --handlers',
): Promise<void> {
  for (const name of await missingFor(db, playbook, own)) {
    const step = playbook.steps.find(({ tools }) => tools.some(({ call }) => call === name))!.step
    const remedy = didYouMean(name, own) ?? how
    output.note(
      pc.yellow(`! The step ${step} calls the handler ${name}, which no running process has. ${remedy}`),
    )
  }
}

export function missingFor(
  db: Queryable,
  playbook: Playbook,
  own: readonly string[] = [],
): Promise<string[]> {
  const steps = [...planOf(playbook).steps.values()].flatMap(({ needs }) => (needs.length > 0 ? [needs] : []))
  return steps.length === 0 ? Promise.resolve([]) : missingHandlers(db, steps, own)
}
