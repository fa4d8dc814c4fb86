/** The playbook that is meant: a file, which is registered if it says something new, or the name of a registered one. */
import { readFile, stat } from 'node:fs/promises'
import type { Pool } from '../../../db/connection.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { StagedoorError } from '../../../errors.ts'
import { playbookInvalid } from '../../../executions/playbook/parse.ts'
import { registerPlaybook } from '../../../executions/registration.ts'
import {
  checkAgainstRegistered,
  findPlaybook,
  type PlaybookDetail,
  requirePlaybookNamed,
} from '../../../executions/shown-playbooks.ts'
import { problemLines } from '../playbook/problem-lines.ts'

export async function playbookFrom(
  pool: Pool,
  given: string,
  version: number | undefined,
  handlers: readonly string[],
): Promise<PlaybookDetail> {
  if (!(await isFile(given)))
    return inTransaction(pool, (client) => requirePlaybookNamed(client, given, version))
  if (version !== undefined) {
    throw new StagedoorError('argument_invalid', {
      reason: '--version is for a playbook that is named, not for a file',
    })
  }
  const text = await readFile(given, 'utf8')
  return inTransaction(pool, async (client) => {
    const { playbook, problems } = await checkAgainstRegistered(client, text, handlers)
    if (playbook === undefined) throw withExcerpts(playbookInvalid(given, problems), given, text, problems)
    const before = await findPlaybook(client, playbook.name)
    // Who may start it is not this command's to change.
    await registerPlaybook(client, text, { open_to_members: before?.open_to_members ?? false })
    return requirePlaybookNamed(client, playbook.name)
  })
}

function withExcerpts(
  error: StagedoorError,
  file: string,
  text: string,
  problems: Parameters<typeof problemLines>[2],
): StagedoorError {
  const shown = problemLines(file, text, problems, { colour: false }).join('\n')
  return new StagedoorError('playbook_invalid', error.details, {
    message: `${file} cannot be used\n\n${shown}`,
    hint: error.hint,
  })
}

/** What looks like a path is one: a name has no slash and no ending. */
async function isFile(given: string): Promise<boolean> {
  const found = await stat(given).catch(() => undefined)
  if (found?.isFile()) return true
  if (found || /[/\\]|\.(ya?ml|json)$/i.test(given)) {
    throw new StagedoorError('argument_invalid', {
      reason: found ? `${given} is not a file` : `There is no file ${given}`,
    })
  }
  return false
}
