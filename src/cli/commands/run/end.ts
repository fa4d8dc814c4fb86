/** How a run ended, or where it stands when one looks away. */
import pc from 'picocolors'
import type { Queryable } from '../../../db/connection.ts'
import type { ResultValue } from '../../../executions/event.ts'
import type { Json } from '../../../executions/playbook/definition.ts'
import type { ResultStore } from '../../../executions/results/store.ts'
import { isSomebodyDriving, type Lacking, lackedHandlers } from '../../../executions/shown-engines.ts'
import { type ExecutionRecord, executionEvents } from '../../../executions/shown-executions.ts'
import { findPlaybook } from '../../../executions/shown-playbooks.ts'
import { cut, type Output, visible } from '../../output.ts'
import { duration, whenIs } from '../../times.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import { missingFor } from './handlers.ts'
import { lackingText } from './step-lines.ts'

/** On a terminal; --json has all of it. */
const MOST_SHOWN = 4000

/** Prints it, and answers the exit code. */
export async function showEnd(
  output: Output,
  db: Queryable,
  results: ResultStore,
  execution: ExecutionRecord,
  { is_new = true }: { is_new?: boolean } = {},
): Promise<number> {
  const { execution_id: id, playbook, version, status, error, start_time, end_time } = execution
  const [ended] = await executionEvents(db, id, { after: execution.last_seq - 1, limit: 1 })
  const result = status === 'COMPLETED' ? await loaded(results, ended?.result) : null
  const ms = end_time!.getTime() - start_time!.getTime()
  const outcome = { execution_id: id, playbook, version, status, result, error, duration_ms: ms, is_new }
  output.result(outcome, () => {
    if (status === 'COMPLETED') {
      output.line(
        is_new
          ? `${pc.green('✔')} ${pc.bold('completed')} in ${duration(ms)}`
          : `${pc.green('✔')} ${pc.bold('was completed already')}, ${whenIs(end_time!)}, in ${duration(ms)}`,
      )
      if (result !== null) output.line(cut(visible(JSON.stringify(result, null, 2)), MOST_SHOWN))
      return
    }
    if (status === 'CANCELLED') {
      const { by, reason } = (ended?.meta ?? {}) as { by?: string; reason?: string | null }
      output.line(
        `${pc.yellow('–')} ${pc.bold('cancelled')} by ${visible(by ?? 'somebody')}${reason ? `: ${visible(reason)}` : ''}`,
      )
    } else output.line(`${pc.red('✖')} ${pc.bold('failed')} after ${duration(ms)}: ${visible(error ?? '')}`)
    printNext(output, [
      { what: 'See every step', command: `stagedoor executions show ${id}` },
      ...(ended?.node_name == null ? [] : againFrom(id, ended.node_name)),
    ])
  })
  return status === 'COMPLETED' ? 0 : status === 'CANCELLED' ? 6 : 1
}

async function loaded(results: ResultStore, result: unknown): Promise<Json> {
  const { value, ref, bytes } = (result ?? {}) as { value?: Json; ref?: string; bytes?: number }
  const kept: ResultValue = ref === undefined ? { value: value ?? null } : { ref, bytes: bytes ?? 0 }
  return results.load(kept)
}

/** What was wrong may have been outside of the playbook, or in it: its version stays what it was unless one is named. */
export function againFrom(id: string, step: string): NextStep[] {
  const again = `stagedoor executions rerun ${id} --from ${step}`
  return [
    { what: 'When the reason is gone, go on from there', command: again },
    { what: 'Or, if the playbook was wrong, with its newest version', command: `${again} --version latest` },
  ]
}

/** Not ended: who goes on with it now that this process does not. */
export async function showLeft(
  output: Output,
  db: Queryable,
  execution: ExecutionRecord,
  handlersFile?: string,
): Promise<void> {
  const { execution_id: id, playbook, version, status } = execution
  const driven = await isSomebodyDriving(db)
  const lacking = await lackedHandlers(db, id)
  const found = playbook === null ? undefined : await findPlaybook(db, playbook, version ?? undefined)
  const missing = found === undefined ? [] : await missingFor(db, found.playbook)
  const worker = `stagedoor worker --handlers ${handlersFile ?? 'FILE'}`
  const left = { execution_id: id, playbook, version, status, result: null, error: null, driven }
  output.result({ ...left, lacks_handlers: missing }, () => {
    output.line(standingOf(execution, driven, lacking, missing))
    printNext(output, [
      ...(status === 'PAUSED' ? [{ what: 'Go on', command: `stagedoor executions resume ${id}` }] : []),
      ...(missing.length > 0
        ? [{ what: 'Let a worker with the handlers go on with it', command: worker }]
        : driven
          ? []
          : [{ what: 'Let a server go on with it', command: 'stagedoor start' }]),
      { what: 'Watch it again', command: `stagedoor executions wait ${id}` },
      { what: 'Or end it', command: `stagedoor executions cancel ${id}` },
    ])
  })
}

function standingOf(
  { status }: ExecutionRecord,
  driven: boolean,
  lacking: readonly Lacking[],
  missing: readonly string[],
): string {
  const still = pc.yellow('○')
  if (status === 'PAUSED') return `${pc.yellow('Ⅱ')} It is paused: nothing new begins until it is resumed.`
  if (lacking.length > 0) return `${still} It stands still: ${lackingText(lacking)}.`
  if (driven && missing.length === 0) return `${pc.cyan('●')} It goes on: another process drives it.`
  if (driven) {
    return `${pc.cyan('●')} It goes on until a step calls ${missing.join(' or ')}, which no running process has: that step fails then.`
  }
  const who = missing.length > 0 ? `a worker with ${missing.join(', ')}` : '`stagedoor start` or a worker'
  return `${still} It stands still, and goes on where it was as soon as ${who} runs.`
}
