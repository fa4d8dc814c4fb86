/** `stagedoor worker list`: who works, here and behind gateways, and who leads what. */
import pc from 'picocolors'
import { listProcesses, type Process } from '../app/processes.ts'
import { command } from './command.ts'
import { formatAge, formatCount, joinWords } from './format.ts'
import type { Column } from './terminal.ts'
import { printableLine } from './text.ts'

export const workerListCommand = () =>
  command('list', 'who works: workers of jobs, engines, workers behind gateways, and who leads what')
    .actor()
    .examples(
      '  $ stagedoor worker list',
      '  $ stagedoor worker list --json',
      '',
      'What each worker runs now: `stagedoor job workers`. How many workers are wanted: `stagedoor pool list`.',
    )
    .run(async ({ output, transaction }) => {
      // Loaded here, because `stagedoor worker` itself does not need it.
      const { listWhoWorks } = await import('../app/workers.ts')
      const { processes, ...found } = await transaction(async (client) => ({
        ...(await listWhoWorks(client)),
        processes: await listProcesses(client),
      }))
      const lines = linesOf(found, processes)
      output.result(found, () => {
        if (lines.length === 0) {
          output.line('No worker is registered: jobs and executions wait until one is.')
          output.next(
            ['Start one that works on the database', 'stagedoor worker --handlers ./jobs.ts'],
            [
              'Or one without the database, behind `stagedoor start` with NATS_URL',
              'NATS_URL=nats://HOST stagedoor worker --handlers ./jobs.ts',
            ],
          )
        } else output.records(lines, COLUMNS)
        if (found.leaders.length === 0) return
        output.heading('Leaders')
        output.records(found.leaders, [
          { title: 'work', value: ({ name }) => name },
          { title: 'host', value: ({ host }) => printableLine(host) },
          { title: 'process', value: ({ pid }) => pid },
          { title: 'since', value: ({ since }) => `${formatAge(since)} ago` },
        ])
      })
    })

type Found = import('../app/workers.ts').WhoWorks

interface Line {
  readonly alive: boolean
  readonly type: string
  readonly host: string
  readonly version: string
  readonly offers: string
  readonly gateway: string
  readonly held: string
  readonly oldest: Date | null
  readonly since: Date
}

function linesOf({ workers, engines, remote_workers }: Found, processes: readonly Process[]): Line[] {
  const versions = new Map(processes.map(({ host, pid, version }) => [`${host} ${pid}`, version]))
  const gateways = new Map(processes.map(({ process_id, host, pid }) => [process_id, `${host} ${pid}`]))
  const versionOf = (name: string | null): string =>
    versions.get((name ?? '').split(' ').slice(0, 2).join(' ')) ?? ''
  return [
    ...workers.map((one) => ({
      alive: one.is_alive,
      type: one.executor === 'PG_worker' ? 'jobs' : one.executor,
      host: one.name ?? one.worker_id,
      version: versionOf(one.name),
      offers: one.kinds.join(', '),
      gateway: '',
      held: formatCount(one.running_count),
      oldest: one.running[0]?.started_at ? new Date(one.running[0].started_at) : null,
      since: one.started_at,
    })),
    ...engines.map((one) => ({
      alive: one.is_alive,
      type: 'engine',
      host: one.name ?? one.engine_id,
      version: versionOf(one.name),
      offers: joinWords(
        [one.drives && 'drives', one.runs && 'runs', one.handlers.length > 0 && one.handlers.join(', ')],
        ', ',
      ),
      gateway: '',
      held: '',
      oldest: null,
      since: one.started_at,
    })),
    ...remote_workers.map((one) => ({
      alive: true,
      type: 'remote',
      host: `${one.host} ${one.pid}`,
      version: one.version,
      offers: `pool ${one.pool}`,
      gateway: gateways.get(one.gateway_process) ?? one.gateway_host ?? one.gateway_process,
      held: `${one.held} of ${one.concurrency}`,
      oldest: one.oldest_call_at,
      since: one.attached_at,
    })),
  ]
}

const COLUMNS: Column<Line>[] = [
  {
    value: ({ alive }) => (alive ? '● alive' : '✖ silent'),
    paint: (cell, { alive }) => (alive ? pc.green(cell) : pc.red(cell)),
  },
  { title: 'type', value: ({ type }) => type },
  { title: 'host, process', value: ({ host }) => printableLine(host) },
  { title: 'version', value: ({ version }) => printableLine(version) },
  { title: 'offers', value: ({ offers }) => printableLine(offers), shrinkTo: 16 },
  { title: 'gateway', value: ({ gateway }) => printableLine(gateway) },
  { title: 'holds', value: ({ held }) => held },
  { title: 'oldest call', value: ({ oldest }) => (oldest === null ? '' : `${formatAge(oldest)} ago`) },
  { title: 'since', value: ({ since }) => `${formatAge(since)} ago`, dim: true },
]
