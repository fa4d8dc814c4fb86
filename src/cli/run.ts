/** `stagedoor run`: runs a playbook in this process, from its file or by its name, and shows it step by step. */
import { readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import pc from 'picocolors'
import { listWorkspaces } from '../access/members.ts'
import { openStores, resultPlaces } from '../app/stores.ts'
import { type StartedExecution, startOrFindExecution } from '../executions/control.ts'
import type { Playbook } from '../executions/playbook/definition.ts'
import { findPlaybook, getPlaybook, type PlaybookDetail, registerPlaybook } from '../executions/playbooks.ts'
import type { ExecutionRecord } from '../executions/queries.ts'
import { createResultStore } from '../executions/results.ts'
import type { PlaybookHandlers } from '../executions/tools/tool.ts'
import type { Json, JsonObject } from '../kernel/json.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { argumentInvalid, integerFrom, jsonOrText, parseDuration } from './arguments.ts'
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
import { requireValid } from './playbook.ts'
import { type Session, type SessionOptions, type Transaction, workspaceOf } from './session.ts'
import type { Output } from './terminal.ts'

export const runCommand = () =>
  command('run', 'run a playbook: from its file or by its name, and watch it step by step')
    .argument('<file or name>', 'a file is registered first, if it says something new')
    .option(
      '--set <name=value>',
      'what it is given; value is JSON or text, @file.json is read',
      parseArgument,
    )
    .option(
      '--handlers <file>',
      'whose export playbookHandlers the steps with `tool: handler` call; those of other processes count, too',
    )
    .workspace('whose members see it and decide; default: the only one there is')
    .option('--key <text>', 'the same playbook and key again is the same execution, and nothing new runs')
    .option('--version <n>', 'of the playbook; default: the newest', integerFrom(1))
    .option('--detach', 'start it, and let a server or a worker run it')
    .option(
      '--timeout <span>',
      'detach after 30s, 5m or 2h; a server or a worker continues it',
      parseDuration,
    )
    .actor()
    .examples(
      `  $ stagedoor playbook check playbook.yaml
  $ stagedoor run playbook.yaml --set n=10000 --handlers handlers.mjs
  $ stagedoor run nightly-import --set list=@items.json --key 2026-11-16

It runs in this process, beside any server or worker. Ctrl-C detaches: a server or a worker that has the handlers continues
the execution, and it waits until one runs. Completed steps do not run again. A second Ctrl-C ends the process at once.
Exit codes: 0 completed · 1 failed, or not ended when --timeout was over · 6 cancelled · 130 detached`,
    )
    .run(
      async (session, given) => {
        const { options, output, transaction, isMember } = session
        const handlers = await loadRunHandlers(output, options.handlers)
        const own = Object.keys(handlers)
        const found = await resolvePlaybook(session.backEnd, given, options.version, own)
        const { playbook, name } = found
        const { workspace, set = {}, key: idempotencyKey, version } = options
        requireKnownArguments(playbook, set)
        const pool = await session.pool()
        if (options.detach)
          await warnOfMissingHandlers(output, pool, playbook, {
            own: [],
            how: 'Start `stagedoor worker --handlers FILE`',
          })
        else await warnOfMissingHandlers(output, pool, playbook, { own })
        const start = () =>
          transaction(async (client) => {
            const workspaceId = isMember
              ? await workspaceOf(client, workspace)
              : await workspaceForRun(client, workspace, playbook)
            return startOrFindExecution(client, name, set, { version, idempotencyKey, workspaceId })
          })
        if (options.detach) return showStarted(output, found, await start())
        await runLocal(session, { playbook: found, handlers, start })
      },
      // A reviewer approves from another terminal what the execution waits for.
      { announce: true },
    )

function showStarted(
  output: Output,
  playbook: PlaybookDetail,
  { execution_id, is_new }: StartedExecution,
): void {
  const { name, version } = playbook
  const done = is_new ? 'is started' : 'was started before with this key; nothing new is started'
  output.result(
    { execution_id, playbook: name, version, is_new },
    `${titleOf(playbook)} ${pc.dim(execution_id)} ${done}`,
    ['Watch it', `stagedoor execution wait ${execution_id}`],
    ['A server or a worker runs it', 'stagedoor start'],
  )
}

/** How long running steps may take to end after Ctrl-C. */
const LOCAL_SHUTDOWN_MS = 10_000

function titleOf({ name, version }: PlaybookDetail): string {
  return `${pc.bold(name)} ${pc.dim(`version ${version}`)}`
}

interface LocalRun {
  readonly playbook: PlaybookDetail
  readonly handlers: PlaybookHandlers
  start(): Promise<StartedExecution>
}

/** Runs an execution in this process and watches it; sets the exit code. */
export async function runLocal(
  session: Session<SessionOptions & { readonly timeout?: number; readonly handlers?: string }>,
  { playbook, handlers, start }: LocalRun,
): Promise<void> {
  const { options, output, config } = session
  const [database, pool] = [await session.database(), await session.pool()]
  const { createLog } = await import('../app/log.ts')
  const { compose } = await import('../app/compose.ts')
  const stops = watchInterrupts(options.timeout)
  // A step that fails is shown in its line; the log is for those who set its level.
  const logLevel = config.sources.logLevel === 'default' ? 'silent' : config.logLevel
  const composition = await compose(config, database, {
    log: createLog({ ...config, logLevel }),
    roles: { playbooks: { handlers, shutdownMs: LOCAL_SHUTDOWN_MS } },
  })
  let last: ExecutionRecord
  try {
    const { execution_id, is_new } = await start()
    output.note(`${titleOf(playbook)} ${pc.dim(execution_id)}`)
    if (!is_new) output.note(pc.yellow('  was started before with this key; nothing new is started'))
    const progress = runProgress(output, playbook.playbook)
    last = await watchExecution(pool, execution_id, progress, stops.signal).finally(progress.stop)
    if (last.end_time !== null) {
      const results = createResultStore({ pool, ...resultPlaces(openStores(config), database) })
      return await printEnd(output, pool, results, last, { is_new })
    }
  } finally {
    if (stops.signal.aborted) output.note(pc.dim('\n  stopping; waiting for running steps…'))
    await composition.stop()
    stops.close()
  }
  await printUnfinished(output, pool, last, stops, options.handlers)
}

/** `given` is a file, which is registered if it differs from the newest version, or the name of a registered playbook. */
async function resolvePlaybook(
  backEnd: Transaction,
  given: string,
  version: number | undefined,
  handlers: readonly string[],
): Promise<PlaybookDetail> {
  if (!(await isFile(given))) return backEnd((client) => getPlaybook(client, given, version))
  if (version !== undefined)
    throw argumentInvalid('--version is for a playbook that is named, not for a file')
  const text = await readFile(given, 'utf8')
  return backEnd(async (client) => {
    const { playbook } = await requireValid(client, given, text, handlers)
    const before = await findPlaybook(client, playbook.name)
    // `run` does not change who may start it.
    await registerPlaybook(client, text, { openToMembers: before?.open_to_members ?? false })
    return getPlaybook(client, playbook.name)
  })
}

/** A slash or a file extension makes it a path: names of playbooks have neither. */
async function isFile(given: string): Promise<boolean> {
  const found = await stat(given).catch(() => undefined)
  if (found?.isFile()) return true
  if (found) throw argumentInvalid(`${given} is not a file`)
  if (/[/\\]|\.(ya?ml|json)$/i.test(given)) throw argumentInvalid(`There is no file ${given}`)
  return false
}

/** Parses `--set name=value`, which may be repeated. The last value of a name wins. */
function parseArgument(given: string, before: JsonObject = {}): JsonObject {
  const at = given.indexOf('=')
  const name = given.slice(0, at)
  if (at < 1 || !/^[A-Za-z_]\w*$/.test(name))
    throw argumentInvalid(
      `--set ${given} is not name=value`,
      'As in --set n=10000 or --set list=@items.json.',
    )
  const value = given.slice(at + 1)
  return { ...before, [name]: value.startsWith('@') ? fileValue(name, value.slice(1)) : jsonOrText(value) }
}

function fileValue(name: string, path: string): Json {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw argumentInvalid(
      `There is no file ${path} for ${name}`,
      'A text that begins with @ is given as JSON: --set \'name="@text"\'.',
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const { message } = error as Error
    throw argumentInvalid(`${path} is not JSON: ${message}`, 'A file after @ holds one JSON value.')
  }
}

/** Refused before the start, because here the error can list the known arguments. */
function requireKnownArguments(playbook: Playbook, args: JsonObject): void {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(playbook.args, name))
  if (unknown === undefined) return
  const names = Object.keys(playbook.args).join(', ')
  throw argumentInvalid(
    `The playbook ${playbook.name} takes no ${unknown}`,
    names === '' ? 'It takes nothing; its `args` say what it takes.' : `It takes ${names}.`,
  )
}

/**
 * The named workspace, else the only one. Undefined where there are several and none is named: refused if a step stages something
 * for review, because nobody could decide on it.
 */
async function workspaceForRun(
  client: Client,
  named: string | undefined,
  playbook: Playbook,
): Promise<string | undefined> {
  if (named !== undefined) return workspaceOf(client, named)
  const workspaces = await listWorkspaces(client)
  if (workspaces.length === 1) return workspaces[0]!.id
  const step = stepThatStages(playbook)
  if (step === undefined) return undefined
  const names = workspaces.map(({ id, name }) => name ?? id).join(', ')
  throw argumentInvalid(
    `The step ${step} stages something for members of a workspace to review, and no workspace is named`,
    names === ''
      ? 'There is none yet: `stagedoor workspace create NAME`, then --workspace NAME.'
      : `Say which with --workspace: ${names}.`,
  )
}

/** A step that stages something for review and names no workspace itself. */
function stepThatStages({ steps }: Playbook): string | undefined {
  return steps.find(({ tools }) =>
    tools.some(
      ({ tool, args }) =>
        args.workspace_id === undefined &&
        (tool === 'ingest' || (tool === 'staging' && args.action === 'create')),
    ),
  )?.step
}
