/** Runs an execution in this process and shows it step by step, until its end or until one looks away. */
import pc from 'picocolors'
import type { Config } from '../../../config.ts'
import type { Pool } from '../../../db/connection.ts'
import type { Database } from '../../../db/open.ts'
import { refuseTransactionPooler } from '../../../db/pooler.ts'
import type { ExecutionRecord } from '../../../executions/shown-executions.ts'
import type { PlaybookDetail } from '../../../executions/shown-playbooks.ts'
import type { Begun } from '../../../executions/steering.ts'
import type { PlaybookHandlers } from '../../../executions/tool.ts'
import type { Output } from '../../output.ts'
import type { RunningPlaybooks } from '../../running-playbooks.ts'
import { showEnd, showLeft } from './end.ts'
import { interruptions } from './interruptions.ts'
import { runProgress } from './progress.ts'
import { watchExecution } from './watch.ts'

export interface Here {
  readonly config: Config
  readonly database: Database
  /** As dot_executor. */
  readonly pool: Pool
  readonly output: Output
  readonly handlers: PlaybookHandlers
  /** The file that they are from. */
  readonly handlersFile: string | undefined
  readonly timeout: number | undefined
}

export function titleOf({ name, version }: Pick<PlaybookDetail, 'name' | 'version'>): string {
  return `${pc.bold(name)} ${pc.dim(`version ${version}`)}`
}

/** Answers the exit code. */
export async function runHere(
  here: Here,
  playbook: PlaybookDetail,
  begin: () => Promise<Begun>,
): Promise<number> {
  const { pool, output } = here
  const stops = interruptions(here.timeout)
  const running = await engineOf(here)
  let last: ExecutionRecord
  try {
    const { execution_id, is_new } = await begin()
    output.note(`${titleOf(playbook)} ${pc.dim(execution_id)}`)
    if (!is_new) output.note(pc.yellow('  was started before with this key; nothing new is started'))
    const width = Math.min(32, Math.max(...playbook.playbook.steps.map(({ step }) => step.length)))
    const progress = runProgress(output, width)
    try {
      last = await watchExecution(pool, execution_id, progress, stops.signal)
    } finally {
      progress.stop()
    }
    if (last.end_time !== null) return await showEnd(output, pool, running.results, last, { is_new })
  } finally {
    if (stops.signal.aborted) output.note(pc.dim('\n  looking away; steps that run come to their end…'))
    await running.stop()
    stops.close()
  }
  await showLeft(output, pool, last, here.handlersFile)
  return stops.why() === 'timeout' ? 1 : 130
}

async function engineOf({ config, database, handlers }: Here): Promise<RunningPlaybooks> {
  const { createLog } = await import('../../log.ts')
  const { runPlaybooks } = await import('../../running-playbooks.ts')
  await refuseTransactionPooler(database.workerUrl)
  // What goes wrong with a step is said in its line; the rest only to those who ask for it.
  const logLevel = config.sources.logLevel === 'default' ? 'silent' : config.logLevel
  return runPlaybooks(config, database, {
    log: createLog({ ...config, logLevel }),
    handlers,
    shutdownMs: 10_000,
  })
}
