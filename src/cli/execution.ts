/** `stagedoor execution`: executions of playbooks. */
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { getPlaybook } from '../executions/playbooks.ts'
import {
  EXECUTION_STATUSES,
  type ExecutionDetail,
  type ExecutionRecordStatus,
  getExecution,
  hasDrivingEngine,
  type LoggedEvent,
  listEngines,
  listEvents,
  listExecutions,
  listFailedItems,
  listUnhandledCommands,
  requireExecution,
  type TracedResult,
  traceExecution,
} from '../executions/queries.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { findRecord } from '../staging/records.ts'
import { integerFrom } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import {
  cancelCommand,
  executionVerb,
  pauseCommand,
  rebuildCommand,
  rerunCommand,
  resumeCommand,
  waitCommand,
} from './execution-control.ts'
import {
  countsCommand,
  graphCommand,
  itemsCommand,
  resultCommand,
  timelineCommand,
} from './execution-detail.ts'
import {
  executionTable,
  type LoopCounts,
  loopCounts,
  loopCountsText,
  missingHandlersText,
  paintStatus,
  resultText,
  startOf,
  statusOf,
  stepTable,
  tookOf,
} from './execution-format.ts'
import { rerunNextSteps } from './execution-watch.ts'
import { formatAge, formatCount, formatDuration, formatRelativeTime, joinWords } from './format.ts'
import { executionId } from './ids.ts'
import { workspaceIfNamed } from './session.ts'
import { formatFacts, formatRecords, type Output, type PossibleStep } from './terminal.ts'
import { printable, printableLine, screenWidth, truncateLine } from './text.ts'

export const executionCommand = () =>
  commandGroup(
    'execution',
    'executions of playbooks: list, wait, pause, cancel, rerun from a step',
    [
      listCommand(),
      showCommand(),
      eventsCommand(),
      traceCommand(),
      graphCommand(),
      itemsCommand(),
      timelineCommand(),
      resultCommand(),
      countsCommand(),
      waitCommand(),
      cancelCommand(),
      pauseCommand(),
      resumeCommand(),
      rerunCommand(),
      enginesCommand(),
      rebuildCommand(),
    ],
    `
  $ stagedoor run playbook.yaml --set n=10000
  $ stagedoor execution list --status RUNNING
  $ stagedoor execution show <id>
  $ stagedoor execution events <id> --failed
  $ stagedoor execution items <id> --status failed
  $ stagedoor execution rerun <id> --from load --handlers handlers.mjs
  $ stagedoor execution engines
  $ stagedoor execution rebuild --all --verify`,
  )

/** Of the items that failed; `events --failed` has all. */
const FAILED_SHOWN = 5

const listCommand = () =>
  command('list', 'executions, newest first')
    .option(
      '--status <status>',
      `only these (choices: ${EXECUTION_STATUSES.map((one) => `"${one}"`).join(', ')})`,
      parseStatus,
    )
    .option('--playbook <name>', 'only of this one')
    .workspace('only of this one')
    .option('--parent <id>', 'those that this execution started', executionId)
    .limit()
    .option('--after <id>', 'the page after this one', executionId)
    .actor()
    .run(async ({ options, output, isMember, transaction }) => {
      const { workspace, status, playbook, parent, after, limit } = options
      const executions = await transaction(async (client) => {
        if (playbook !== undefined && !isMember) await getPlaybook(client, playbook)
        const workspaceId = await workspaceIfNamed(client, workspace)
        return listExecutions(client, { limit, status, playbook, parent, after, workspaceId })
      })
      output.result(executions, () => {
        if (executions.length > 0) return output.line(executionTable(executions))
        if ([status, playbook, workspace, parent, after].some((given) => given !== undefined))
          return output.line('No such execution. `stagedoor execution list` shows all.')
        output.line('No execution here. `stagedoor run playbook.yaml` makes one, and so does from SQL:')
        output.line(pc.cyan("  select noetl.fn_execution_start('hello', '{\"n\": 10}')"))
      })
    })

/** running as well as RUNNING */
function parseStatus(given: string): ExecutionRecordStatus {
  const status = EXECUTION_STATUSES.find((one) => one === given.toUpperCase())
  if (status) return status
  throw new InvalidArgumentError(`One of ${EXECUTION_STATUSES.join(', ')}.`)
}

const showCommand = () =>
  executionVerb('show', 'one execution: its status, its steps, its result')
    .option('--after <seq>', 'steps that were entered after this position in the log', integerFrom(0), 0)
    .limit(100, 10_000, 'how many steps')
    .actor()
    .run(async ({ options, output, transaction, isMember }, id) => {
      const view = await transaction(async (client) =>
        loadExecutionView(client, await getExecution(client, id, options), isMember),
      )
      const { execution, children, failed_items, lacking } = view
      output.result(
        { ...execution, children, failed_items, lacking },
        () => printExecution(output, view),
        ...nextSteps(view),
      )
    })

type ExecutionView = Awaited<ReturnType<typeof loadExecutionView>>

async function loadExecutionView(client: Client, execution: ExecutionDetail, isMember: boolean) {
  const { execution_id: id } = execution
  const over = execution.end_time !== null
  const record = over ? undefined : recordWaitedFor(execution)
  return {
    execution,
    children: await listExecutions(client, { parent: id, limit: 10 }),
    failed_items: execution.items_failed ? await listFailedItems(client, id, FAILED_SHOWN) : [],
    // Members do not see who drives, nor what waits for whom.
    driven: isMember || (await hasDrivingEngine(client)),
    lacking: isMember || over ? [] : await listUnhandledCommands(client, id),
    // It waits for a decision on a record that is of no workspace.
    undecidable: record !== undefined && (await findRecord(client, record))?.workspace_id === null,
  }
}

function recordWaitedFor({ steps }: ExecutionDetail): string | undefined {
  const waiting = steps.find(({ wait, status }) => wait?.kind === 'approval' && status === 'waiting')
  return waiting?.wait?.staging_record_id ?? undefined
}

function printExecution(output: Output, view: ExecutionView): void {
  const { execution, children, failed_items, driven, lacking, undecidable } = view
  const { execution_id: id, status, playbook, version, end_time, steps, next_steps, error } = execution
  const over = end_time !== null
  output.line(
    `${paintStatus(statusOf(status))}  ${pc.bold(playbook ?? '?')} ${pc.dim(`version ${version ?? '?'}`)}`,
  )
  if (!over && !driven) output.line(pc.yellow('No running engine drives it.'))
  if (lacking.length > 0) output.line(pc.yellow(`It waits: ${missingHandlersText(lacking)}.`))
  if (undecidable)
    output.line(
      pc.yellow(
        'Nobody can decide on the record that it waits for: it belongs to no workspace. Cancel it, and start it with --workspace.',
      ),
    )
  output.line(`\n${formatFacts(factsOf(execution))}`)
  if (steps.length > 0) output.line(`\n${stepTable(steps, over)}`)
  if (next_steps !== null) output.dim(`  … and more: stagedoor execution show ${id} --after ${next_steps}`)
  if (failed_items.length > 0) {
    output.heading('Items that failed')
    output.records(failed_items, [
      { value: ({ step }) => `  ${step}` },
      { value: ({ index }) => `item ${index}` },
      { value: ({ error }) => error, paint: pc.red, shrinkTo: 20 },
    ])
    const rest = (execution.items_failed ?? 0) - failed_items.length
    if (rest > 0) output.dim(`  … and ${formatCount(rest)} more: stagedoor execution events ${id} --failed`)
  }
  if (error !== null) output.line(`\n${pc.red(printable(error))}`)
  if (children.length > 0) output.line(`\n${pc.bold('It started')}\n${executionTable(children)}`)
}

function factsOf(one: ExecutionDetail): [string, string | null | false][] {
  const short = (text: string) => truncateLine(text, screenWidth() - 14)
  return [
    ['id', one.execution_id],
    ['started', `${formatRelativeTime(startOf(one))} by ${one.started_by ?? '?'}`],
    ['took', one.end_time !== null && tookOf(one)],
    ['workspace', one.workspace_id],
    ['args', Object.keys(one.args).length > 0 && short(JSON.stringify(one.args))],
    ['event', one.cause],
    ['part of', one.parent_execution_id],
    ['rerun of', one.rerun_of !== null && `${one.rerun_of} from ${one.from_step}`],
    ['result', one.result !== null && short(resultText(one.result) || 'null')],
  ]
}

function nextSteps({ execution, driven, lacking, undecidable }: ExecutionView): PossibleStep[] {
  const { execution_id: id, status, steps } = execution
  const record = undecidable ? undefined : recordWaitedFor(execution)
  switch (status) {
    case 'PAUSED':
      return [['Resume it', `stagedoor execution resume ${id}`]]
    case 'PENDING':
    case 'RUNNING':
      return [
        lacking.length > 0 && ['Start a worker that has the handlers', 'stagedoor worker --handlers FILE'],
        lacking.length === 0 && !driven && ['Start a server', 'stagedoor start'],
        record !== undefined && [
          'A second person checks the record and decides',
          `stagedoor staging show ${record}`,
        ],
        ['Watch it', `stagedoor execution wait ${id}`],
        ['Cancel it', `stagedoor execution cancel ${id}`],
      ]
    case 'COMPLETED':
      return [['Trace its results', `stagedoor execution trace ${id}`]]
    default: {
      // What it failed at: the page may not have come to it.
      const last = steps.findLast((step) => step.status === 'failed') ?? steps.at(-1)
      const step = execution.last_node_name ?? last?.step
      return step === undefined ? [] : rerunNextSteps(id, step)
    }
  }
}

const eventsCommand = () =>
  executionVerb('events', 'the log of an execution, in its order')
    .option('--after <seq>', 'after this position in the log', integerFrom(0), 0)
    .limit(100, 10_000)
    .option('--no-items', 'without what happened to single items of loops')
    .option('--failed', 'only what failed, with its error: attempts, items, steps')
    .actor()
    .run(async ({ options, output, transaction }, id) => {
      const { after, limit, items, failed = false } = options
      const events = await transaction(async (client) => {
        await requireExecution(client, id)
        return listEvents(client, id, { after, limit, withoutItems: !items, failed })
      })
      output.result(events, () => {
        if (events.length === 0 && after > 0) return output.line('No event after that.')
        if (events.length === 0)
          return output.line(failed ? 'Nothing failed.' : 'No engine has claimed it yet.')
        output.line(eventTable(events))
        const same = `${failed ? ' --failed' : ''}${items ? '' : ' --no-items'}`
        if (events.length === limit)
          output.dim(`stagedoor execution events ${id}${same} --after ${events.at(-1)!.seq}`)
      })
    })

function eventTable(events: readonly LoggedEvent[]): string {
  const paint = (cell: string, { error }: LoggedEvent): string => (error ? pc.red(cell) : pc.dim(cell))
  return formatRecords(events, [
    { value: (event) => event.seq, paint },
    { value: (event) => event.created_at.toISOString().slice(11, 23), paint },
    { value: (event) => event.event_type },
    { value: (event) => event.node_id },
    { value: aboutEvent, paint, shrinkTo: 20 },
  ])
}

function aboutEvent({ error, meta, result, current_index, current_item }: LoggedEvent): string {
  if (error != null) return current_index == null ? error : `item ${current_index}: ${error}`
  const { iter_index, attempt, wait, child_execution_id, total_shards, collection_size } = (meta ??
    {}) as Record<string, unknown>
  const parts = [
    iter_index !== undefined && `item ${iter_index}`,
    current_item != null && JSON.stringify(current_item),
    typeof attempt === 'number' && attempt > 1 && `attempt ${attempt}`,
    wait !== undefined && `waits: ${wait}`,
    child_execution_id !== undefined && `execution ${child_execution_id}`,
    (collection_size ?? total_shards) !== undefined && `${collection_size ?? total_shards} items`,
    result?.context !== undefined && JSON.stringify(result.context),
    resultText(result ?? null),
  ]
  return printableLine(joinWords(parts))
}

const traceCommand = () =>
  executionVerb('trace', 'from its end back to its beginning, result by result: what each came from')
    .actor()
    .run(async ({ output, transaction }, id) => {
      const { way, cause } = await transaction(async (client) => {
        const { cause } = await getExecution(client, id, { limit: 1 })
        return { way: await traceExecution(client, id), cause }
      })
      output.result({ execution_id: id, cause, way }, () => {
        const last = way.at(-1)
        if (!last) return output.line('No engine has claimed it yet.')
        for (const line of stepChainLines(way, last.logged_at)) output.line(line)
        const hasFailed = way.some((one) => countsOf(one)?.failed)
        output.next(
          hasFailed && ['Which items failed, and why', `stagedoor execution events ${id} --failed`],
          cause !== null && ['What led to it, and what came of it', `stagedoor trace ${cause}`],
        )
      })
    })

/**
 * Only ends: that a step was issued follows from its end. The end of a loop stands for all items: the item that happened to be
 * the last is not what it came from.
 */
function stepChainLines(way: readonly TracedResult[], began: Date): string[] {
  const ends = way.filter(
    ({ event_type }, index) =>
      index === 0 || !/\.(issued|enter|item|enqueued|fanin\.completed|shard\.\w+)$/.test(event_type),
  )
  return ends.map((one, index) => {
    const { error, event_type: type, node_name: name, logged_at } = one
    const counts = countsOf(one)
    const mark =
      error !== null
        ? pc.red('✖')
        : counts?.failed
          ? pc.yellow('◐')
          : type.endsWith('.initialized')
            ? pc.dim('●')
            : pc.green('✔')
    const after = `+${formatDuration(logged_at.getTime() - began.getTime())}`
    const text = truncateLine(
      error ?? (counts ? loopCountsText(counts) : resultText(one.result)),
      Math.max(20, screenWidth() - 50),
    )
    const line = [
      pc.dim(index === ends.length - 1 ? '└─' : '├─'),
      mark,
      pc.bold(name ?? type),
      `${pc.dim(name === null ? '' : type)} `,
      `${pc.dim(after)} `,
      (error === null ? pc.dim : pc.red)(text),
    ]
    return line.join(' ').trimEnd()
  })
}

function countsOf({ event_type, result }: TracedResult): LoopCounts | undefined {
  return event_type === 'loop.done' && result?.context !== undefined ? loopCounts(result) : undefined
}

const enginesCommand = () =>
  command(
    'engines',
    'the processes that drive executions and run their steps, and what waits for a handler',
  ).run(async ({ output, transaction }) => {
    const { engines, lacking } = await transaction(async (client) => ({
      engines: await listEngines(client),
      lacking: await listUnhandledCommands(client),
    }))
    output.result({ engines, lacking }, () => {
      if (engines.length === 0) {
        output.line('No process runs playbooks: executions wait until one does.')
        output.next(['Let one run them', 'stagedoor start'])
      } else
        output.records(engines, [
          { title: 'process', value: ({ name, engine_id }) => name ?? engine_id },
          { title: 'age', value: ({ started_at }) => formatAge(started_at), dim: true },
          { title: 'shards', value: ({ shards }) => (shards === null ? '–' : `${shards} of 16`) },
          { title: 'items', value: ({ commands }) => (commands === null ? '–' : formatCount(commands)) },
          { title: 'handlers', value: ({ handlers }) => handlers.join(', ') || 'none' },
        ])
      for (const one of lacking)
        output.line(pc.yellow(`execution ${one.execution_id}: ${missingHandlersText([one])}`))
    })
  })
