import { Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { type FailedItem, failedItems } from '../../../executions/failed-items.ts'
import { isSomebodyDriving, type Lacking, lackedHandlers } from '../../../executions/shown-engines.ts'
import {
  EXECUTION_STATUSES,
  type ExecutionDetail,
  type ExecutionRecord,
  executionEvents,
  type LoggedEvent,
  listExecutions,
  requireExecution,
  type ShownStatus,
  showExecution,
} from '../../../executions/shown-executions.ts'
import { requirePlaybookNamed } from '../../../executions/shown-playbooks.ts'
import type { StepFilter } from '../../../executions/shown-steps.ts'
import { findRecord } from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, isNamed, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { executionId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { type Output, table, visible, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { againFrom } from '../run/end.ts'
import { lackingText } from '../run/step-lines.ts'
import { count, screenWidth, shortened } from '../upload/layout.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import {
  executionTable,
  paintStatus,
  resultText,
  roomAfter,
  startOf,
  statusOf,
  stepTable,
  tookOf,
} from './screen.ts'

/** Of the items that failed; `events --failed` has all. */
const FAILED_SHOWN = 5

interface ListOptions extends ActingOptions {
  readonly status?: ShownStatus
  readonly playbook?: string
  readonly workspace?: string
  readonly of?: string
  readonly limit: number
  readonly after?: string
}

export function listCommand(): Command {
  return new Command('list')
    .description('executions, newest first')
    .addOption(
      new Option('--status <status>', 'only these').choices(EXECUTION_STATUSES).argParser(statusNamed),
    )
    .option('--playbook <name>', 'only of this one')
    .option('--workspace <id or name>', 'only of this one')
    .option('--of <id>', 'those that this execution started', executionId)
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this one', executionId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const executions = await readExecutions(options)
      output.result(executions, () => {
        if (executions.length > 0) return output.line(executionTable(executions))
        if (isFiltered(options))
          return output.line('No such execution. `stagedoor executions list` shows all.')
        output.line('No execution here. `stagedoor run playbook.yaml` makes one, and so does from SQL:')
        output.line(pc.cyan("  select noetl.fn_execution_start('hello', '{\"n\": 10}')"))
      })
    })
}

function isFiltered({ status, playbook, workspace, of, after }: ListOptions): boolean {
  return [status, playbook, workspace, of, after].some((given) => given !== undefined)
}

/** running as well as RUNNING */
function statusNamed(given: string): ShownStatus {
  const status = EXECUTION_STATUSES.find((one) => one === given.toUpperCase())
  if (status) return status
  throw new InvalidArgumentError(`One of ${EXECUTION_STATUSES.join(', ')}.`)
}

function readExecutions({
  workspace,
  status,
  playbook,
  of,
  after,
  limit,
  ...acts
}: ListOptions): Promise<ExecutionRecord[]> {
  return acting(
    acts,
    async (client) => {
      if (playbook !== undefined && !isNamed(acts)) await requirePlaybookNamed(client, playbook)
      return listExecutions(client, {
        limit,
        ...(status !== undefined && { status }),
        ...(playbook !== undefined && { playbook }),
        ...(of !== undefined && { parent: of }),
        ...(after !== undefined && { after }),
        ...(workspace !== undefined && { workspace_id: await workspaceOf(client, workspace) }),
      })
    },
    workspace === undefined ? {} : { workspace },
  )
}

interface ShowOptions extends ActingOptions {
  readonly after: number
  readonly limit: number
}

export function showCommand(): Command {
  return new Command('show')
    .description('one execution: where it stands, its steps, what it gave')
    .argument('<id>', 'of the execution', executionId)
    .option(
      '--after <seq>',
      'steps that were entered behind this place in the log',
      whole(0, 2_147_483_647),
      0,
    )
    .option('--limit <n>', 'how many steps', whole(1, 10_000), 100)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>()
      const output = outputOf(options)
      const { after, limit } = options
      const shown = await acting(options, (client) => lookAt(client, id, { after, limit }, isNamed(options)))
      const { execution, children, failed_items, lacking } = shown
      output.result({ ...execution, children, failed_items, lacking }, () => printExecution(output, shown))
    })
}

interface Shown {
  readonly execution: ExecutionDetail
  readonly children: readonly ExecutionRecord[]
  readonly failed_items: readonly FailedItem[]
  readonly driven: boolean
  readonly lacking: readonly Lacking[]
  /** It waits for a decision on a record that is of no workspace. */
  readonly undecidable: boolean
}

async function lookAt(client: Client, id: string, page: StepFilter, isMember: boolean): Promise<Shown> {
  const execution = await showExecution(client, id, page)
  const over = execution.end_time !== null
  const record = over ? undefined : recordWaitedFor(execution)
  return {
    execution,
    children: await listExecutions(client, { parent: id, limit: 10 }),
    failed_items: execution.items_failed ? await failedItems(client, id, FAILED_SHOWN) : [],
    // Members do not see who drives, nor what waits for whom.
    driven: isMember || (await isSomebodyDriving(client)),
    lacking: isMember || over ? [] : await lackedHandlers(client, id),
    undecidable: record !== undefined && (await findRecord(client, record))?.workspace_id === null,
  }
}

function recordWaitedFor({ steps }: ExecutionDetail): string | undefined {
  const waiting = steps.find(({ wait, status }) => wait?.kind === 'approval' && status === 'waiting')
  return waiting?.wait?.staging_record_id ?? undefined
}

function printExecution(output: Output, shown: Shown): void {
  const { execution, children, failed_items, driven, lacking, undecidable } = shown
  const { execution_id: id, status, playbook, version, end_time, steps, next_steps, error } = execution
  const over = end_time !== null
  output.line(
    `${paintStatus(statusOf(status))}  ${pc.bold(playbook ?? '?')} ${pc.dim(`version ${version ?? '?'}`)}`,
  )
  if (!over && !driven) output.line(pc.yellow('No engine drives it just now.'))
  if (lacking.length > 0) output.line(pc.yellow(`It stands still: ${lackingText(lacking)}.`))
  if (undecidable)
    output.line(
      pc.yellow(
        'Nobody can decide on the record that it waits for: it belongs to no workspace. Cancel it, and start it with --workspace.',
      ),
    )
  output.line()
  output.line(table(factsOf(execution), (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
  if (steps.length > 0) output.line(`\n${stepTable(steps, over)}`)
  if (next_steps !== null)
    output.line(pc.dim(`  … and more: stagedoor executions show ${id} --after ${next_steps}`))
  if (failed_items.length > 0)
    output.line(`\n${pc.bold('Items that failed')}\n${failedText(execution, failed_items)}`)
  if (error !== null) output.line(`\n${pc.red(visible(error))}`)
  if (children.length > 0) output.line(`\n${pc.bold('It started')}\n${executionTable(children)}`)
  printNext(output, nextOf(shown))
}

function failedText(
  { execution_id: id, items_failed }: ExecutionDetail,
  items: readonly FailedItem[],
): string {
  const rows = items.map(({ step, index, error }) => [`  ${step}`, `item ${index}`, error])
  const room = roomAfter(rows, [0, 1])
  const fitting = rows.map((row) => row.map((cell, column) => (column === 2 ? shortened(cell, room) : cell)))
  const lines = table(fitting, (cell, column) => (column === 2 ? pc.red(cell) : cell))
  const rest = (items_failed ?? 0) - items.length
  return rest > 0
    ? `${lines}\n${pc.dim(`  … and ${count(rest)} more: stagedoor executions events ${id} --failed`)}`
    : lines
}

function factsOf(one: ExecutionDetail): [string, string][] {
  const facts: [string, string | null][] = [
    ['id', one.execution_id],
    ['started', `${whenIs(startOf(one))} by ${one.started_by ?? '?'}`],
    ['took', one.end_time === null ? null : tookOf(one)],
    ['workspace', one.workspace_id],
    [
      'args',
      Object.keys(one.args).length === 0 ? null : shortened(JSON.stringify(one.args), screenWidth() - 14),
    ],
    ['event', one.cause],
    ['part of', one.parent_execution_id],
    ['rerun of', one.rerun_of === null ? null : `${one.rerun_of} from ${one.from_step}`],
    ['result', one.result === null ? null : shortened(resultText(one.result) || 'null', screenWidth() - 14)],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}

function nextOf({ execution, driven, lacking, undecidable }: Shown): NextStep[] {
  const { execution_id: id, status, steps } = execution
  const server =
    lacking.length > 0
      ? [
          {
            what: 'Let a worker with the handlers go on with it',
            command: 'stagedoor worker --handlers FILE',
          },
        ]
      : driven
        ? []
        : [{ what: 'Let a server go on with it', command: 'stagedoor start' }]
  const record = undecidable ? undefined : recordWaitedFor(execution)
  switch (status) {
    case 'PAUSED':
      return [{ what: 'Go on', command: `stagedoor executions resume ${id}` }]
    case 'PENDING':
    case 'RUNNING':
      return [
        ...server,
        ...(record === undefined
          ? []
          : [
              {
                what: 'A colleague looks at the record and decides',
                command: `stagedoor staging show ${record}`,
              },
            ]),
        { what: 'Watch it', command: `stagedoor executions wait ${id}` },
        { what: 'End it before its time', command: `stagedoor executions cancel ${id}` },
      ]
    case 'COMPLETED':
      return [{ what: 'From result to result', command: `stagedoor executions trace ${id}` }]
    default: {
      // What it failed at: the page may not have come to it.
      const last = steps.findLast((step) => step.status === 'failed') ?? steps.at(-1)
      const step = execution.last_node_name ?? last?.step
      return step === undefined ? [] : againFrom(id, step)
    }
  }
}

interface EventsOptions extends ActingOptions {
  readonly after: number
  readonly limit: number
  readonly items: boolean
  readonly failed?: boolean
}

export function eventsCommand(): Command {
  return new Command('events')
    .description('the log of an execution, in its order')
    .argument('<id>', 'of the execution', executionId)
    .option('--after <seq>', 'behind this place in the log', whole(0, 2_147_483_647), 0)
    .option('--limit <n>', 'how many', whole(1, 10_000), 100)
    .option('--no-items', 'without what happened to single items of loops')
    .option('--failed', 'only what failed, with its error: attempts, items, steps')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<EventsOptions>()
      const output = outputOf(options)
      const { after, limit } = options
      const events = await acting(options, async (client) => {
        await requireExecution(client, id)
        const failed = options.failed === true
        return executionEvents(client, id, { after, limit, without_items: !options.items, failed })
      })
      output.result(events, () => {
        if (events.length === 0) return output.line(noEvents(options))
        output.line(eventTable(events))
        const same = `${options.failed ? ' --failed' : ''}${options.items ? '' : ' --no-items'}`
        if (events.length === limit)
          output.line(pc.dim(`stagedoor executions events ${id}${same} --after ${events.at(-1)!.seq}`))
      })
    })
}

function noEvents({ after, failed }: EventsOptions): string {
  if (after > 0) return 'Nothing behind that.'
  return failed ? 'Nothing of it failed.' : 'No engine has picked it up yet.'
}

function eventTable(events: readonly LoggedEvent[]): string {
  const rows = events.map((event) => [
    String(event.seq),
    event.created_at.toISOString().slice(11, 23),
    event.event_type,
    event.node_id ?? '',
    aboutEvent(event),
  ])
  const room = roomAfter(rows, [0, 1, 2, 3])
  const fitting = rows.map((row) => row.map((cell, column) => (column === 4 ? shortened(cell, room) : cell)))
  return table(fitting, (cell, column, row) =>
    column < 2 || column === 4 ? (events[row]!.error ? pc.red(cell) : pc.dim(cell)) : cell,
  )
}

function aboutEvent({ error, meta, result, current_index, current_item }: LoggedEvent): string {
  if (error != null) return current_index == null ? error : `item ${current_index}: ${error}`
  const { iter_index, attempt, wait, child_execution_id, total_shards, collection_size } = (meta ??
    {}) as Record<string, unknown>
  const said = [
    iter_index !== undefined && `item ${iter_index}`,
    current_item != null && JSON.stringify(current_item),
    typeof attempt === 'number' && attempt > 1 && `attempt ${attempt}`,
    wait !== undefined && `waits: ${wait}`,
    child_execution_id !== undefined && `execution ${child_execution_id}`,
    (collection_size ?? total_shards) !== undefined && `${collection_size ?? total_shards} items`,
    result?.context !== undefined && JSON.stringify(result.context),
    resultText(result ?? null),
  ]
  return visibleLine(said.filter(Boolean).join(', '))
}
