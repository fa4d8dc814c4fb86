/** Commands that act on an execution: cancel, pause, resume, rerun, wait, rebuild. */
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { openStores, resultPlaces } from '../app/stores.ts'
import {
  cancelExecution,
  pauseExecution,
  rebuildExecution,
  rerunExecution,
  resumeExecution,
} from '../executions/control.ts'
import {
  countExecutions,
  type ProjectionDifference,
  projectionDifferences,
  rebuildProjection,
} from '../executions/engine/projection.ts'
import { findPlaybook, getPlaybook, type PlaybookDetail } from '../executions/playbooks.ts'
import { hasDrivingEngine, requireExecution } from '../executions/queries.ts'
import { createResultStore } from '../executions/results.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { argumentInvalid, parseDuration } from './arguments.ts'
import { command } from './command.ts'
import {
  loadRunHandlers,
  printEnd,
  printUnfinished,
  runProgress,
  warnOfMissingHandlers,
  watchExecution,
  watchInterrupts,
} from './execution-watch.ts'
import { formatCount, plural } from './format.ts'
import { executionId, executionIds } from './ids.ts'
import { runLocal } from './run.ts'

export const executionVerb = (name: string, description: string) =>
  command(name, description).argument('<id>', 'of the execution', executionId)

export const cancelCommand = () =>
  controlCommand('cancel', 'end an execution before its time; nobody waits for what runs', {
    outcome: 'cancelled',
    done: 'Cancellation is requested. Open commands are dropped, and executions that it started are cancelled, too.',
    change: (client, id, reason) => cancelExecution(client, id, reason),
  }).option('--reason <text>', 'kept in its log')

export const pauseCommand = () =>
  controlCommand('pause', 'let what runs end, and begin nothing new', {
    outcome: 'paused',
    done: 'Pause is requested. Running steps finish and are kept; nothing new begins.',
    async change(client, id) {
      const { status } = await requireExecution(client, id)
      await pauseExecution(client, id)
      return status === 'PAUSED' ? 'It is paused already.' : undefined
    },
  })

export const resumeCommand = () =>
  controlCommand('resume', 'go on with an execution that is paused', {
    outcome: 'resumed',
    done: 'It goes on.',
    change: resumeExecution,
  })

interface ControlCommand {
  readonly outcome: string
  readonly done: string
  /** May return a text that is printed instead of `done`. */
  change(client: Client, id: string, reason?: string): Promise<unknown>
}

const controlCommand = (name: string, description: string, { outcome, done, change }: ControlCommand) =>
  executionVerb(name, description)
    .actor()
    .run(async ({ options, output, transaction }, id) => {
      const { reason } = options as { reason?: string }
      const instead = await transaction((client) => change(client, id, reason))
      output.result(
        { execution_id: id, outcome },
        typeof instead === 'string' ? instead : done,
        ['See its status', `stagedoor execution show ${id}`],
        name === 'pause' && ['Go on with it later', `stagedoor execution resume ${id}`],
      )
    })

export const rerunCommand = () =>
  command('rerun', 'a new execution that begins at a step of an old one, with what came before it there')
    .argument('<id>', 'of the old one', executionId)
    .requiredOption('--from <step>', 'that the old one came to')
    .option('--version <n>', 'of the playbook, or `latest`; default: that of the old one', parseVersion)
    .option('--handlers <file>', 'run it here and watch it, with the export playbookHandlers of this file')
    .option('--timeout <span>', 'with --handlers: detach after 30s, 5m or 2h', parseDuration)
    .actor()
    .examples(
      `  $ stagedoor execution rerun 380612… --from load --handlers handlers.mjs
  $ stagedoor execution rerun 380612… --from report --version latest    after the playbook was corrected

It takes the arguments of the old one, and its version of the playbook unless --version says otherwise. The old one stays as it is.
Without --handlers a server or a worker runs it.`,
    )
    .run(
      async (session, id) => {
        const { options, output, transaction, isMember } = session
        const { from, version: asked } = options
        const isHere = options.handlers !== undefined
        if (isHere && isMember)
          throw argumentInvalid(
            '--handlers runs it in this process, which is the back end’s: leave --as and --user out',
          )
        const handlers = await loadRunHandlers(output, options.handlers)
        const rerun = async (db: Queryable, playbook: PlaybookDetail | undefined) =>
          rerunExecution(db, id, from, { version: asked === 'latest' ? playbook?.version : asked })
        if (isHere) {
          const pool = await session.pool()
          const playbook = await playbookOf(pool, id, asked)
          if (!playbook) throw new StagedoorError('execution_unknown', { execution: id })
          await warnOfMissingHandlers(output, pool, playbook.playbook, { own: Object.keys(handlers) })
          const start = async () => ({ execution_id: await rerun(pool, playbook), is_new: true })
          return runLocal(session, { playbook, handlers, start })
        }
        const { execution_id, version } = await transaction(async (client) => {
          const playbook = await playbookOf(client, id, asked)
          // Members do not see who has which handler.
          if (!isMember && playbook)
            await warnOfMissingHandlers(output, client, playbook.playbook, { own: [] })
          return { execution_id: await rerun(client, playbook), version: playbook?.version ?? null }
        })
        const of = version === null ? '' : pc.dim(`, version ${version}`)
        output.result(
          { execution_id, rerun_of: id, from_step: from, version },
          `${pc.dim(execution_id)} begins at ${pc.bold(from)}${of}`,
          ['Watch it', `stagedoor execution wait ${execution_id}`],
        )
      },
      ({ handlers }) => ({ announce: handlers !== undefined }),
    )

/** Undefined for a member who may not see the playbook: the database then says what is wrong. */
async function playbookOf(
  db: Queryable,
  id: string,
  asked: number | 'latest' | undefined,
): Promise<PlaybookDetail | undefined> {
  const { playbook, version } = await requireExecution(db, id)
  if (playbook === null) return undefined
  return getPlaybook(db, playbook, asked === 'latest' ? undefined : (asked ?? version ?? undefined))
}

function parseVersion(given: string): number | 'latest' {
  if (given === 'latest') return given
  const version = Number(given)
  if (/^\d+$/.test(given) && version >= 1 && version <= 2_147_483_647) return version
  throw new InvalidArgumentError('A number from 1, or `latest`.')
}

export const waitCommand = () =>
  executionVerb('wait', 'watch an execution until it has ended; others drive it')
    .option('--timeout <span>', 'detach after 30s, 5m or 2h', parseDuration)
    .examples(
      'Exit codes: 0 completed · 1 failed, or not ended when --timeout was over · 6 cancelled · 130 detached',
    )
    .run(async (session, id) => {
      const { options, output, config } = session
      const pool = await session.pool()
      const stops = watchInterrupts(options.timeout)
      try {
        const { playbook, version, end_time } = await requireExecution(pool, id)
        output.note(`${pc.bold(playbook ?? '?')} ${pc.dim(`version ${version}  ${id}`)}`)
        if (end_time === null && !(await hasDrivingEngine(pool)))
          output.note(pc.yellow('  No engine runs: it waits until `stagedoor start` or a worker does.'))
        const found = playbook === null ? undefined : await findPlaybook(pool, playbook, version ?? undefined)
        const progress = runProgress(output, found?.playbook)
        const last = await watchExecution(pool, id, progress, stops.signal).finally(progress.stop)
        if (last.end_time === null) return await printUnfinished(output, pool, last, stops)
        const results = createResultStore({
          pool,
          ...resultPlaces(openStores(config), await session.database()),
        })
        await printEnd(output, pool, results, last)
      } finally {
        stops.close()
      }
    })

export const rebuildCommand = () =>
  command('rebuild', 'project executions from their logs again')
    .argument('[id...]', 'of executions', executionIds)
    .option('--all', 'of every execution')
    .option('--verify', 'change nothing: list where the projection differs from the log')
    .examples('Engines may run meanwhile. --verify exits with 7 where something differs.')
    .run(async ({ options: { all, verify }, output, ...session }, ids) => {
      if (ids.length === 0 && !all) throw argumentInvalid('Name the executions, or say --all')
      const pool = await session.pool()
      for (const id of ids) await requireExecution(pool, id)
      if (!verify) {
        for (const id of ids) await rebuildExecution(pool, id)
        const rebuilt = all ? await rebuildProjection(pool) : ids.length
        return output.result(
          { rebuilt },
          `${plural(rebuilt, 'execution is', 'executions are')} projected again.`,
        )
      }
      const differences: ProjectionDifference[] = []
      for await (const one of projectionDifferences(pool))
        if (all || ids.includes(one.execution_id)) differences.push(one)
      if (differences.length > 0) process.exitCode = 7
      const compared = all ? await countExecutions(pool) : ids.length
      output.result({ compared, differences }, () => {
        const executions = compared === 1 ? 'one execution' : `${formatCount(compared)} executions`
        if (differences.length === 0)
          return output.done(`The projection agrees with the log of ${executions}.`)
        output.records(differences, [
          { value: (one) => one.execution_id },
          { value: (one) => one.difference },
        ])
        output.next(['Project them again', 'stagedoor execution rebuild --all'])
      })
    })
