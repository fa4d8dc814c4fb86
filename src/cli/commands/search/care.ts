/** Looking after search: what waits, what failed, and trying again. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Pool } from '../../../db/connection.ts'
import { inStatement } from '../../../db/statement.ts'
import type { Search } from '../../../search/library.ts'
import {
  type DeadProjection,
  deadProjections,
  projectNow,
  replayProjections,
} from '../../../search/status.ts'
import type { Left } from '../../../search/working-off.ts'
import { searchOf } from '../../../stagedoor/search.ts'
import { asOption, userOption } from '../../acting.ts'
import { type GlobalOptions, outputOf, withStagedoor } from '../../context.ts'
import { idsOf } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { type Output, table } from '../../output.ts'
import { duration, whenIs } from '../../times.ts'
import { fitted } from '../unit/screen.ts'
import { printNext } from '../upload/next-step.ts'
import { projectHere } from './projecting.ts'
import { printWarning } from './screen.ts'
import { type SearchOptions, type SearchSession, searching } from './session.ts'
import { printStatus } from './status-screen.ts'

export function statusCommand(): Command {
  return new Command('status')
    .description('collections, what waits, outages, phases and cost')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const status = await withStagedoor(options, ({ search }) => search.status())
      output.result(status, () => printStatus(output, status))
    })
}

/** Its own pool of vector workers is ended with it. */
export async function withSearch<T>(
  { config, database, pool }: Pick<SearchSession, 'config' | 'database' | 'pool'>,
  work: (search: Search) => Promise<T>,
): Promise<T> {
  const search = searchOf({ config, database, pool, statement: (task) => inStatement(pool, task) })
  try {
    return await work(search)
  } finally {
    await search.close()
  }
}

export function nowCommand(): Command {
  return new Command('now')
    .description('bring what was edited into search at once, without the two minutes of quiet')
    .option('--workspace <id or name>', 'of this one; default: the only one there is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const output = outputOf(options)
      await searching(options, async (session) => {
        const { workspace, transaction } = session
        const began = performance.now()
        await transaction((client) => projectNow(client, { workspace }))
        const [before, left] = await withSearch(session, async (search) => {
          const before = await doneIn(session)
          const left = await projectHere(output, search, workspace)
          return [before, left] as const
        })
        const projected = (await doneIn(session)) - before
        const retrying = await retryingIn(session.pool, workspace)
        if (retrying) process.exitCode = 7
        output.result({ projected, ...left, retrying }, () =>
          printProjected(output, projected, { ...left, retrying }, performance.now() - began),
        )
      })
    })
}

async function doneIn({ pool, workspace }: SearchSession): Promise<number> {
  const { rows } = await pool.query<{ done: number }>(
    `select count(*)::integer as done from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
      where o.status = 'done' and coalesce(u.workspace_id, k.workspace_id) = $1`,
    [workspace],
  )
  return rows[0]!.done
}

/** What failed and is tried again: how many of a workspace, and why the last did. */
export interface Retrying {
  readonly rows: number
  readonly reason: string
}

export async function retryingIn(pool: Pool, workspace: string): Promise<Retrying | null> {
  const { rows } = await pool.query<Retrying>(
    `select count(*)::integer as rows, (array_agg(o.last_error order by o.changed_at desc))[1] as reason
       from iu_core.vector_outbox o
       left join iu_core.information_unit u on u.unit_id = o.unit_id
       left join iu_core.kb_document k on k.document_id = o.document_id
      where o.status = 'pending' and o.retry_count > 0 and o.last_error is not null
        and coalesce(u.workspace_id, k.workspace_id) = $1`,
    [workspace],
  )
  return rows[0]!.rows > 0 ? rows[0]! : null
}

export function printProjected(
  output: Output,
  projected: number,
  left: Left & { readonly retrying: Retrying | null },
  ms: number,
): void {
  if (projected > 0)
    output.line(
      `${pc.green('✔')} ${projected === 1 ? 'One text is' : `${projected} texts are`} in search, ${duration(ms)}`,
    )
  if (left.closed !== null) {
    printWarning(output, `${left.waiting} wait. ${left.closed}`)
    return
  }
  if (left.retrying)
    printWarning(
      output,
      `${left.retrying.rows} failed, ${left.retrying.rows === 1 ? 'is' : 'are'} found by words only and tried again: ${left.retrying.reason}`,
    )
  if (left.outage !== null && left.waiting > 0) {
    printWarning(
      output,
      `${left.waiting} found by words only so far: ${left.outage}. It catches up by itself.`,
    )
    printNext(output, [{ what: 'See how it is', command: 'stagedoor search status' }])
  } else if (projected === 0 && !left.retrying) output.line('Nothing was waiting: search has it all.')
}

export function deadCommand(): Command {
  return new Command('dead')
    .description('what could not be brought into search after all its tries')
    .option('--workspace <id or name>', 'of this one; default: the only one there is')
    .option('--limit <n>', 'how many', whole(1, 1000), 50)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions & { limit: number }>()
      const output = outputOf(options)
      const dead = await searching(options, ({ transaction, workspace }) =>
        transaction((client) => deadProjections(client, { workspace, limit: options.limit })),
      )
      output.result(dead, () => {
        if (dead.length === 0)
          return output.line(
            'Nothing: everything came into search, or is on its way (`stagedoor search status`).',
          )
        output.line(deadTable(dead))
        printNext(output, [
          {
            what: 'Try one again, once its cause is gone',
            command: `stagedoor search replay ${dead[0]!.outbox_id}`,
          },
          { what: 'Or all of them', command: 'stagedoor search replay' },
        ])
      })
    })
}

function deadTable(dead: readonly DeadProjection[]): string {
  const rows = fitted([
    ['what', 'tries', 'died', 'id', 'why'],
    ...dead.map((one) => [one.name, String(one.tries), whenIs(one.died_at), one.outbox_id, one.error ?? '']),
  ])
  return table(rows, (cell, column, row) => (row === 0 || column === 3 ? pc.dim(cell) : cell))
}

export function replayCommand(): Command {
  return new Command('replay')
    .description('try dead letters again, with all tries before them')
    .argument('[id...]', 'of dead letters; default: all', idsOf('outbox'))
    .option('--workspace <id or name>', 'of this one; default: the only one there is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (ids: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const output = outputOf(options)
      const replayed = await searching(
        options,
        ({ transaction, workspace }) =>
          transaction((client) =>
            replayProjections(client, { workspace, ...(ids.length > 0 && { outbox: ids }) }),
          ),
        { decides: options.as !== undefined || options.user !== undefined, call: 'POST /api/search/replay' },
      )
      output.result({ replayed }, () => {
        if (replayed === 0) return output.line('There was nothing to try again.')
        output.line(`${pc.green('✔')} ${replayed === 1 ? 'One is' : `${replayed} are`} tried again`)
        printNext(output, [{ what: 'Work it off here and now', command: 'stagedoor search now' }])
      })
    })
}
