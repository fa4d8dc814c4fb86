import { Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
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
import { type ActingOptions, acting, asOption, isNamed, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { type Output, table, visible, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { isSomebodyDriving } from '../run/end.ts'
import { screenWidth, shortened } from '../upload/layout.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import { executionId } from './execution-id.ts'
import { executionTable, paintStatus, resultText, roomAfter, statusOf, stepTable, tookOf } from './screen.ts'

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
        output.line('No execution here. `stagedoor run playbook.yaml` makes one, and so does from SQL:')
        output.line(pc.cyan("  select noetl.fn_execution_start('hello', '{\"n\": 10}')"))
      })
    })
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
    async (client) =>
      listExecutions(client, {
        limit,
        ...(status !== undefined && { status }),
        ...(playbook !== undefined && { playbook }),
        ...(of !== undefined && { parent: of }),
        ...(after !== undefined && { after }),
        ...(workspace !== undefined && { workspace_id: await workspaceOf(client, workspace) }),
      }),
    workspace === undefined ? {} : { workspace },
  )
}

export function showCommand(): Command {
  return new Command('show')
    .description('one execution: where it stands, its steps, what it gave')
    .argument('<id>', 'of the execution', executionId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const { execution, children, driven } = await acting(options, async (client) => ({
        execution: await showExecution(client, id),
        children: await listExecutions(client, { parent: id, limit: 10 }),
        // Members do not see who drives.
        driven: isNamed(options) || (await isSomebodyDriving(client)),
      }))
      output.result({ ...execution, children }, () => printExecution(output, execution, children, driven))
    })
}

function printExecution(
  output: Output,
  execution: ExecutionDetail,
  children: readonly ExecutionRecord[],
  driven: boolean,
): void {
  const { status, playbook, version, end_time, steps, error } = execution
  const over = end_time !== null
  output.line(
    `${paintStatus(statusOf(status))}  ${pc.bold(playbook ?? '?')} ${pc.dim(`version ${version ?? '?'}`)}`,
  )
  if (!over && !driven) output.line(pc.yellow('No engine drives it just now.'))
  output.line()
  output.line(table(factsOf(execution), (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
  if (steps.length > 0) output.line(`\n${stepTable(steps, over)}`)
  if (error !== null) output.line(`\n${pc.red(visible(error))}`)
  if (children.length > 0) output.line(`\n${pc.bold('It started')}\n${executionTable(children)}`)
  printNext(output, nextOf(execution, driven))
}

function factsOf(one: ExecutionDetail): [string, string][] {
  const facts: [string, string | null][] = [
    ['id', one.execution_id],
    ['started', `${whenIs(one.created_at)} by ${one.started_by ?? '?'}`],
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

function nextOf({ execution_id: id, status, steps }: ExecutionDetail, driven: boolean): NextStep[] {
  const server = driven ? [] : [{ what: 'Let a server go on with it', command: 'stagedoor start' }]
  const record = steps.find(({ wait }) => wait?.kind === 'approval')?.wait?.staging_record_id
  switch (status) {
    case 'PAUSED':
      return [{ what: 'Go on', command: `stagedoor executions resume ${id}` }]
    case 'PENDING':
    case 'RUNNING':
      return [
        ...server,
        ...(record == null
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
      const last = steps.findLast((step) => step.status === 'failed') ?? steps.at(-1)
      if (!last) return []
      const again = `stagedoor executions rerun ${id} --from ${last.step}`
      return [{ what: 'When the reason is gone, go on from there', command: again }]
    }
  }
}

interface EventsOptions extends ActingOptions {
  readonly after: number
  readonly limit: number
  readonly items: boolean
}

export function eventsCommand(): Command {
  return new Command('events')
    .description('the log of an execution, in its order')
    .argument('<id>', 'of the execution', executionId)
    .option('--after <seq>', 'behind this place in the log', whole(0, 2_147_483_647), 0)
    .option('--limit <n>', 'how many', whole(1, 10_000), 100)
    .option('--no-items', 'without what happened to single items of loops')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<EventsOptions>()
      const output = outputOf(options)
      const { after, limit } = options
      const events = await acting(options, async (client) => {
        await requireExecution(client, id)
        return executionEvents(client, id, { after, limit, without_items: !options.items })
      })
      output.result(events, () => {
        if (events.length === 0)
          return output.line(after > 0 ? 'Nothing behind that.' : 'No engine has picked it up yet.')
        output.line(eventTable(events))
        if (events.length === limit)
          output.line(pc.dim(`stagedoor executions events ${id} --after ${events.at(-1)!.seq}`))
      })
    })
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

function aboutEvent({ error, meta, result, current_item }: LoggedEvent): string {
  if (error != null) return error
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
