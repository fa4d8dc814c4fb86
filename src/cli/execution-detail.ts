/** How an execution went, in detail: the items of its loops, who ran what when, its graph, its results; and how all of them do. */
import pc from 'picocolors'
import { openStores, resultPlaces } from '../app/stores.ts'
import { getExecutionGraph, getExecutionTimeline, listLoopItems } from '../executions/graph.ts'
import {
  countByStatus,
  type ExecutionDetail,
  getExecution,
  listPlaybookRuns,
  readResult,
  requireExecution,
} from '../executions/queries.ts'
import { createResultStore } from '../executions/results.ts'
import { type ExecutionTimeline, ITEM_STATUSES, type LoopItem } from '../executions/shapes.ts'
import { argumentInvalid, integerBetween, parsePastTime } from './arguments.ts'
import { command } from './command.ts'
import { executionVerb } from './execution-control.ts'
import { loopCountsText, paintStatus, resultText, statusOf, stepMark } from './execution-format.ts'
import { formatCount, formatDuration, formatRelativeTime, joinWords, plural } from './format.ts'
import { workspaceIfNamed } from './session.ts'
import { type Column, painter } from './terminal.ts'
import { printableLine } from './text.ts'

type Loop = NonNullable<ExecutionDetail['steps'][number]['loop']>
interface LoopStep {
  readonly step: string
  readonly loop: Loop
}

/** More loops than a playbook can enter in a page that people read. */
const MAX_STEPS = 10_000

export const itemsCommand = () =>
  executionVerb('items', 'the items of a loop, in the order of its collection: failed ones, open ones, all')
    .option('--step <name>', 'whose loop; default: the only one')
    .option('--status <status>', 'only these; failed: cancelled ones, too', ITEM_STATUSES)
    .limit(100, 10_000)
    .option('--after <index>', 'the page after this item', integerBetween(-1, 2_147_483_647), -1)
    .actor()
    .examples(
      '  $ stagedoor execution items last --status failed',
      '  $ stagedoor execution items last --step load --json',
    )
    .run(async ({ options, output, transaction }, id) => {
      const { status, after, limit } = options
      const { chosen, items } = await transaction(async (client) => {
        const { steps } = await getExecution(client, id, { limit: MAX_STEPS })
        const chosen = loopOf(steps, id, options.step)
        return {
          chosen,
          items: await listLoopItems(client, id, chosen.loop.loop_id, { status, after, limit }),
        }
      })
      const same = joinWords([options.step && `--step ${options.step}`, status && `--status ${status}`], ' ')
      output.result({ step: chosen.step, loop: chosen.loop, items }, () => {
        output.line(`${pc.bold(chosen.step)}  ${loopCountsText(chosen.loop)}\n`)
        if (items.length === 0) return output.line(status ? `No item is ${status}.` : 'No item was issued.')
        output.records(items, ITEM_COLUMNS)
        if (items.length === limit)
          output.dim(`\nstagedoor execution items ${id} ${same} --after ${items.at(-1)!.index}`)
      })
    })

/** The latest entry of the step; without a name the only step that loops. */
function loopOf(steps: ExecutionDetail['steps'], id: string, name: string | undefined): LoopStep {
  const loops = steps.flatMap(({ step, loop }) => (loop === null ? [] : [{ step, loop }]))
  const names = [...new Set(loops.map(({ step }) => step))]
  const wanted = name ?? (names.length === 1 ? names[0] : undefined)
  const found = loops.findLast(({ step }) => step === wanted)
  if (found) return found
  if (names.length === 0) throw argumentInvalid(`Execution ${id} has entered no step with a loop`)
  throw argumentInvalid(
    name === undefined
      ? `Execution ${id} has ${names.length} steps with a loop`
      : `Execution ${id} has entered no loop in a step ${name}`,
    `Say which: --step ${names.join(', or --step ')}`,
  )
}

const paintItem = painter({ green: ['done'], red: ['failed'], yellow: ['retrying'], cyan: ['open'] })

const ITEM_COLUMNS: Column<LoopItem>[] = [
  { title: 'item', value: ({ index }) => index, align: 'right' },
  { title: 'status', value: ({ status }) => status, paint: paintItem },
  { title: 'attempts', value: ({ attempts }) => attempts, align: 'right' },
  { title: 'took', value: ({ ms }) => (ms === null ? '–' : formatDuration(ms)), align: 'right' },
  { title: 'of', value: ({ key, item }) => key ?? (item === null ? '' : JSON.stringify(item)), shrinkTo: 12 },
  {
    title: 'what came of it',
    value: ({ error, result }) => error ?? resultText(result),
    paint: (cell, { error }) => (error === null ? pc.dim(cell) : pc.red(cell)),
    shrinkTo: 20,
  },
]

export const timelineCommand = () =>
  executionVerb('timeline', 'which process ran which steps and items, when, and what runs now')
    .actor()
    .run(async ({ output, transaction }, id) => {
      const timeline = await transaction(async (client) =>
        getExecutionTimeline(client, await requireExecution(client, id)),
      )
      output.result(timeline, () => {
        if (timeline.lanes.length === 0 && timeline.running.length === 0)
          return output.line('No process has run anything of it yet.')
        if (timeline.partial) output.dim('Of its newest 200,000 events.')
        if (timeline.lanes.length > 0) output.records(timeline.lanes, laneColumns(timeline))
        if (timeline.running.length > 0) output.heading('Running now')
        for (const { step, index, attempt, worker, started_at } of timeline.running)
          output.line(
            printableLine(
              `  ${joinWords([step, index !== null && `item ${index}`, attempt > 1 && `attempt ${attempt}`])} by ${worker}, since ${formatRelativeTime(started_at)}`,
            ),
          )
      })
    })

/** So many characters stand for the whole time. */
const LANE_WIDTH = 40

function laneColumns({ from, to }: ExecutionTimeline): Column<ExecutionTimeline['lanes'][number]>[] {
  const [start, end] = [from?.getTime() ?? 0, to?.getTime() ?? 0]
  const at = (time: string | Date) =>
    Math.floor(((new Date(time).getTime() - start) / Math.max(1, end - start)) * LANE_WIDTH)
  return [
    { title: 'process', value: ({ worker }) => worker, shrinkTo: 12 },
    { title: 'done', value: ({ done }) => formatCount(done), align: 'right' },
    { title: 'failed', value: ({ failed }) => formatCount(failed), align: 'right' },
    { title: 'busy', value: ({ busy_ms }) => formatDuration(busy_ms), align: 'right' },
    {
      title: `when, in ${formatDuration(end - start)}`,
      value: ({ bars }) => {
        const cells = Array.from({ length: LANE_WIDTH }, () => '·')
        for (const bar of bars)
          for (let cell = at(bar.from); cell <= Math.min(LANE_WIDTH - 1, at(bar.to)); cell += 1)
            if (cells[cell] !== '✖') cells[cell] = bar.failed > 0 ? '✖' : '■'
        return cells.join('')
      },
    },
  ]
}

export const graphCommand = () =>
  executionVerb('graph', 'the steps that it entered, each once, and the arcs that it took')
    .actor()
    .run(async ({ output, transaction }, id) => {
      const graph = await transaction(async (client) =>
        getExecutionGraph(client, await requireExecution(client, id)),
      )
      output.result(graph, () => {
        if (graph.nodes.length === 0) return output.line('No engine has claimed it yet.')
        for (const { step, status, entries, loop } of graph.nodes) {
          const about = joinWords([
            status,
            entries > 1 && `entered ${plural(entries, 'time')}`,
            loop && loopCountsText(loop),
          ])
          output.line(`${paintStatus(stepMark(status))} ${pc.bold(step)}  ${pc.dim(about)}`)
          for (const { to, times } of graph.arcs.filter(({ from }) => from === step))
            output.line(pc.dim(`   → ${to}${times > 1 ? `, ${formatCount(times)} times` : ''}`))
        }
      })
    })

export const resultCommand = () =>
  executionVerb('result', 'what an execution gave, or one of its steps, as JSON')
    .option('--step <name>', 'the entry of this step that ended last')
    .actor()
    .run(async (session, id) => {
      const { options, output, transaction, config } = session
      const places = resultPlaces(openStores(config), await session.database())
      const store = createResultStore({ pool: await session.pool(), ...places })
      const value = await readResult(transaction, store, id, options.step)
      output.result({ execution_id: id, value }, () => output.line(JSON.stringify(value, null, 2)))
    })

export const countsCommand = () =>
  command('counts', 'how many executions there are of each status, and how each playbook does')
    .option('--playbook <name>', 'only of this one')
    .workspace('only of this one')
    .option('--since <time>', 'started since: 2h or 7d ago, or 2026-11-01T00:00:00Z', parsePastTime)
    .option('--until <time>', 'started before that time', parsePastTime)
    .actor()
    .run(async ({ options, output, transaction }) => {
      const { playbook, since, until } = options
      const { counts, playbooks } = await transaction(async (client) => ({
        counts: await countByStatus(client, {
          playbook,
          since: since?.toISOString(),
          until: until?.toISOString(),
          workspaceId: await workspaceIfNamed(client, options.workspace),
        }),
        playbooks: (await listPlaybookRuns(client)).filter(
          (one) => playbook === undefined || one.playbook === playbook,
        ),
      }))
      output.result({ ...counts, playbooks }, () => {
        const statuses = Object.entries(counts.by_status)
        if (statuses.length === 0) return output.line('No execution here.')
        output.facts([
          ...statuses.map(([status, count]) => [status.toLowerCase(), formatCount(count)] as const),
          ['with failed items', counts.with_failed_items > 0 && formatCount(counts.with_failed_items)],
        ])
        if (counts.more) output.dim('Of the newest 10,000.')
        output.heading('By playbook, among the newest 2,000')
        output.records(playbooks, [
          { title: 'playbook', value: (one) => one.playbook },
          { title: 'executions', value: (one) => formatCount(one.executions), align: 'right' },
          { title: 'running', value: (one) => formatCount(one.running), align: 'right' },
          { title: 'failed', value: (one) => formatCount(one.failed), align: 'right' },
          { title: 'latest', value: (one) => statusOf(one.last_status), paint: paintStatus },
          { title: '', value: (one) => formatRelativeTime(one.last_at), dim: true },
        ])
      })
    })
