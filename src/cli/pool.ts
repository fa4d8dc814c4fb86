/** `stagedoor pool`: how many workers are wanted. */
import pc from 'picocolors'
import { listPools, type Pool, poolDemand } from '../jobs/pools.ts'
import { integerBetween } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatCount, formatDuration } from './format.ts'
import type { Column } from './terminal.ts'
import { printableLine } from './text.ts'

const CONCURRENCY = [
  '--concurrency <n>',
  'calls at once of one worker; default: 10 jobs, 50 steps and items of playbooks',
  integerBetween(1, 1000),
] as const

export const poolCommand = () =>
  commandGroup('pool', 'pools of workers, and how many are wanted', [
    command('list', 'each pool: what runs, what is due, how many workers it has and wants')
      .option(...CONCURRENCY)
      .actor()
      .examples(
        '  $ stagedoor pool list --concurrency 8',
        '',
        'Workers of one pool offer the same kinds of jobs, or the same handlers of playbooks. Wanted are so many that what is due is begun within',
        'ten seconds: (running + due × seconds of a handler / 10) / concurrency. An autoscaler reads `GET /api/v1/pools/POOL/demand`.',
      )
      .run(async ({ options: { concurrency }, output, transaction }) => {
        output.list(
          await transaction((client) => listPools(client, { concurrency, steps: concurrency })),
          COLUMNS,
          'No worker lives and nothing is due. `stagedoor worker --handlers FILE` starts a worker.',
        )
      }),
    command('demand', 'how many workers a pool wants; it need not have one')
      .argument('<pool>', 'its kinds (kind,kind), executor/kind, or handler:name,name')
      .option(...CONCURRENCY)
      .actor()
      .examples('  $ stagedoor pool demand send_report', '  $ stagedoor pool demand handler:geocode --json')
      .run(async ({ options: { concurrency }, output, transaction }, pool) => {
        const found = await transaction((client) => poolDemand(client, pool, concurrency))
        output.result(found, () => output.records([found], COLUMNS))
      }),
  ])

const COLUMNS: Column<Pool>[] = [
  { title: 'pool', value: ({ pool }) => printableLine(pool), shrinkTo: 24 },
  { title: 'running', value: ({ running }) => formatCount(running), align: 'right' },
  { title: 'due', value: ({ due }) => `${formatCount(due)}${due >= 10_000 ? '+' : ''}`, align: 'right' },
  {
    title: 'a handler takes',
    value: ({ mean_seconds }) => (mean_seconds === null ? '' : formatDuration(mean_seconds * 1000)),
  },
  { title: 'workers', value: ({ workers }) => formatCount(workers), align: 'right' },
  {
    title: 'wanted',
    value: ({ wanted_workers }) => formatCount(wanted_workers),
    paint: (cell, { workers, wanted_workers }) => (wanted_workers > workers ? pc.yellow(cell) : cell),
    align: 'right',
  },
]
