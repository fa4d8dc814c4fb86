/** How a run ended, or where it stands when one looks away. */
import pc from 'picocolors'
import type { Queryable } from '../../../db/connection.ts'
import type { ResultValue } from '../../../executions/event.ts'
import type { Json } from '../../../executions/playbook/definition.ts'
import type { ResultStore } from '../../../executions/results/store.ts'
import { type ExecutionRecord, executionEvents } from '../../../executions/shown-executions.ts'
import { cut, type Output, visible } from '../../output.ts'
import { duration } from '../../times.ts'
import { printNext } from '../upload/next-step.ts'

/** On a terminal; --json has all of it. */
const MOST_SHOWN = 4000

/** Prints it, and answers the exit code. */
export async function showEnd(
  output: Output,
  db: Queryable,
  results: ResultStore,
  execution: ExecutionRecord,
): Promise<number> {
  const { execution_id: id, playbook, version, status, error, start_time, end_time } = execution
  const [ended] = await executionEvents(db, id, { after: execution.last_seq - 1, limit: 1 })
  const result = status === 'COMPLETED' ? await loaded(results, ended?.result) : null
  const ms = end_time!.getTime() - start_time!.getTime()
  const outcome = { execution_id: id, playbook, version, status, result, error, duration_ms: ms }
  output.result(outcome, () => {
    if (status === 'COMPLETED') {
      output.line(`${pc.green('✔')} ${pc.bold('completed')} in ${duration(ms)}`)
      if (result !== null) output.line(cut(visible(JSON.stringify(result, null, 2)), MOST_SHOWN))
      return
    }
    if (status === 'CANCELLED') {
      const { by, reason } = (ended?.meta ?? {}) as { by?: string; reason?: string | null }
      output.line(
        `${pc.yellow('–')} ${pc.bold('cancelled')} by ${visible(by ?? 'somebody')}${reason ? `: ${visible(reason)}` : ''}`,
      )
    } else output.line(`${pc.red('✖')} ${pc.bold('failed')} after ${duration(ms)}: ${visible(error ?? '')}`)
    const step = ended?.node_name
    printNext(output, [
      { what: 'See every step', command: `stagedoor executions show ${id}` },
      ...(step == null
        ? []
        : [
            {
              what: 'When the reason is gone, go on from there',
              command: `stagedoor executions rerun ${id} --from ${step}`,
            },
          ]),
    ])
  })
  return status === 'COMPLETED' ? 0 : status === 'CANCELLED' ? 6 : 1
}

async function loaded(results: ResultStore, result: unknown): Promise<Json> {
  const { value, ref, bytes } = (result ?? {}) as { value?: Json; ref?: string; bytes?: number }
  const kept: ResultValue = ref === undefined ? { value: value ?? null } : { ref, bytes: bytes ?? 0 }
  return results.load(kept)
}

/** Not ended: who goes on with it now that this process does not. */
export async function showLeft(output: Output, db: Queryable, execution: ExecutionRecord): Promise<void> {
  const { execution_id, playbook, version, status } = execution
  const driven = await isSomebodyDriving(db)
  output.result({ execution_id, playbook, version, status, result: null, error: null, driven }, () => {
    output.line(
      driven
        ? `${pc.cyan('●')} It goes on: another process drives it.`
        : `${pc.yellow('○')} It stands still, and goes on where it was as soon as \`stagedoor start\` or a worker runs.`,
    )
    printNext(output, [
      ...(driven ? [] : [{ what: 'Let a server go on with it', command: 'stagedoor start' }]),
      { what: 'Watch it again', command: `stagedoor executions wait ${execution_id}` },
      { what: 'Or end it', command: `stagedoor executions cancel ${execution_id}` },
    ])
  })
}

export async function isSomebodyDriving(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ driven: boolean }>(
    'select exists (select from noetl.engine where drives and leased_until > clock_timestamp()) as driven',
  )
  return rows[0]!.driven
}
