/** `stagedoor upload conflicts`, and the question whose values count: production has moved on since the last plan, and the file says otherwise. */
import pc from 'picocolors'
import {
  CONFLICT_ANSWERS,
  type ConflictRow,
  listConflicts,
  type OnConflict,
  type PlanConflicts,
  type PlanRequest,
  planRequestOf,
} from '../ingest/plan.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { asStagedoorError } from '../kernel/errors.ts'
import { plural } from './format.ts'
import type { Session } from './session.ts'
import { ask, canAsk, commandLine, type Output } from './terminal.ts'
import { printableLine } from './text.ts'
import { uploadVerb } from './upload-show.ts'

const PAGE = 50

/** In the words of the command line. */
const ANSWERS = CONFLICT_ANSWERS.map((answer) => answer.replace('_', '-'))

export const ON_CONFLICT = [
  '--on-conflict <whose>',
  'with a new plan: whose values count where production has moved on since the last plan and the file says otherwise',
  ANSWERS,
] as const

export const answerOf = (given: string | undefined): OnConflict | undefined =>
  CONFLICT_ANSWERS[ANSWERS.indexOf(given ?? '')]

export const conflictsCommand = () =>
  uploadVerb(
    'conflicts',
    'what planning it again would ask: what the last plan saw, what production holds, what the file says; changes nothing',
  )
    .limit(PAGE, 1000)
    .option('--after <row>', 'the page after this row')
    .run(async ({ options, output, transaction }, id) => {
      const { limit, after, as, user } = options
      const found = await transaction(async (client) =>
        listConflicts(client, id, { ...planRequestOf(await requireUpload(client, id)), limit, after }),
      )
      output.result(found, () => {
        printConflicts(output, found)
        const command = `stagedoor upload conflicts ${id}`
        if (found.next !== null)
          output.dim(`\n  More: ${commandLine(command, { as, user, after: found.next })}`)
        if (found.total === 0) return
        for (const answer of ANSWERS)
          output.dim(
            `  ${MEANING[answer]}: ${commandLine(`stagedoor upload plan ${id}`, { as, user, 'on-conflict': answer })}`,
          )
      })
    })

const MEANING: Readonly<Record<string, string>> = {
  'keep-theirs': 'Leave what production holds',
  'use-mine': 'Write the values of the file',
}

const KINDS: Readonly<Record<ConflictRow['kind'], string>> = {
  changed: 'changed there',
  created: 'created there',
  deleted: 'deleted there; the file would insert it again',
  to_delete: 'changed or created there; the file lacks it, so it would be deleted',
}

function printConflicts(output: Output, { items, total, cells }: PlanConflicts): void {
  if (total === 0) {
    output.line('Planning it again takes nothing back.')
    return
  }
  for (const row of items) output.line(rowText(row))
  output.dim(`\n  ${plural(cells, 'value')} in ${plural(total, 'row')}`)
}

function rowText({ table, line, key, kind, cells }: ConflictRow): string {
  const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const show = (value: unknown) =>
    value === null || value === undefined ? pc.dim('–') : printableLine(plain(value))
  const from = line < 0 ? 'not in the file' : `line ${line}`
  const name = printableLine(Object.values(key).map(plain).join(' / '))
  return [
    `${pc.bold(table)}  ${from}  ${name}  ${pc.red(KINDS[kind])}`,
    ...cells.map(
      ({ column, base, theirs, mine }) =>
        `    ${printableLine(column)}: base ${show(base)} · theirs ${show(theirs)} · mine ${show(mine)}`,
    ),
  ].join('\n')
}

/**
 * Plans; where production has moved on, whoever sits at the terminal is asked and the plan is made with the answer, which counts for what they
 * saw. Elsewhere the error says how to answer.
 */
export async function planOrAsk<T>(
  { output, transaction }: Pick<Session, 'output' | 'transaction'>,
  id: string,
  plan: (answer: Pick<PlanRequest, 'onConflict' | 'conflictsDigest'>) => Promise<T>,
): Promise<T> {
  try {
    return await plan({})
  } catch (thrown) {
    if (asStagedoorError(thrown)?.code !== 'plan_conflicts' || !canAsk() || output.json) throw thrown
    const found = await transaction(async (client) =>
      listConflicts(client, id, { ...planRequestOf(await requireUpload(client, id)), limit: PAGE }),
    )
    printConflicts(output, found)
    const answer = answerOf(await ask(`Whose values count (${ANSWERS.join(' or ')}, empty: plan nothing)`))
    if (answer === undefined) throw thrown
    return plan({ onConflict: answer, conflictsDigest: found.digest })
  }
}
