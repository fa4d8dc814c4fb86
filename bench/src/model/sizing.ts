/** What 10 to 1,000 hosts need, by the model: connections, WAL, commits, messages, and what gives way first. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Parameters } from './parameters.ts'
import { type Mode, type Prediction, predict } from './queue-model.ts'

export interface SizingRow {
  readonly mode: Mode
  readonly hosts: number
  /** Enqueued, and done. */
  readonly jobs_per_s: number
  readonly done_per_s: number
  readonly connections: number
  readonly postgres_cores: number
  readonly commits_per_s: number
  readonly wal_mb_per_s: number
  readonly messages_per_s: number
  /** What gives way first, and how much of it is used: above 1 it has. */
  readonly limit: string
  readonly used: number
  readonly moved_by: string
}

export const HOSTS = [10, 30, 100, 300, 1000]
export const MODES: readonly Mode[] = ['direct', 'wake-ups', 'gateway']

/** The installation that the table is about. */
export const INSTALLATION = {
  slots: 10,
  handlerMs: 1000,
  /** Of the slots, on average. */
  busy: 0.7,
  /** Jobs that are enqueued in one statement. */
  together: 10,
  cores: 8,
  maxConnections: 500,
  walMbPerS: 100,
  gateways: 4,
  /** Of a server or gateway, for everything but workers. */
  serverConnections: 12,
} as const

const MAX_JOBS = 14_000
const MIN_SECONDS = 4
const WARM_UP_SECONDS = 6
const ENQUEUE_SESSIONS = 32
/** Less than this share of the jobs done: they pile up. */
const KEEPS_UP = 0.9
const COLLAPSED = 0.6

const MOVED_BY: Readonly<Record<string, string>> = {
  connections: 'gateways, or a larger `max_connections`',
  'Postgres CPU': 'gateways, more cores',
  NOTIFY: 'wake-ups over NATS',
  WAL: 'a faster disk, then a second installation',
  'gateway CPU': 'more gateways',
  NATS: 'a NATS cluster',
}

/** `effort`: of the simulated time; less is quicker and less exact. */
export function sizingRows(parameters: Parameters, effort = 1): SizingRow[] {
  const modes = MODES.filter((mode) => mode === 'direct' || parameters.nats !== undefined)
  return modes.flatMap((mode) => HOSTS.map((hosts) => sizingRow(parameters, mode, hosts, effort)))
}

function sizingRow(parameters: Parameters, mode: Mode, hosts: number, effort: number): SizingRow {
  const { slots, handlerMs, busy, together, cores, maxConnections, walMbPerS, gateways, serverConnections } =
    INSTALLATION
  const perSecond = (hosts * slots * busy * 1000) / handlerMs
  const prediction = predict(parameters, {
    mode,
    processes: hosts,
    gateways,
    slots,
    handlerMs,
    handlerSpread: 0.5,
    cores,
    load: {
      perSecond,
      seconds: effort * (WARM_UP_SECONDS + Math.max(MIN_SECONDS, Math.min(20, MAX_JOBS / perSecond))),
      warmUpSeconds: effort * WARM_UP_SECONDS,
      together,
      sessions: ENQUEUE_SESSIONS,
    },
  })
  const connections =
    mode === 'gateway'
      ? gateways * serverConnections
      : serverConnections + Math.ceil(hosts * parameters.postgres.idle.connections)
  const limits: Record<string, number> = {
    connections: connections / maxConnections,
    'Postgres CPU': prediction.postgres_cores / cores,
    WAL: prediction.wal_mb_per_s / walMbPerS,
    ...(mode === 'direct' && { NOTIFY: prediction.notify_share }),
    ...(mode === 'gateway' && { 'gateway CPU': prediction.claimer_cores }),
    ...(mode !== 'direct' && { NATS: natsCores(parameters, prediction) }),
  }
  const [limit, used] = Object.entries(limits).reduce((first, next) => (next[1] > first[1] ? next : first))
  return {
    mode,
    hosts,
    jobs_per_s: perSecond,
    // Workers fill their prefetch first, which is no lack; a server that answers no claim is one.
    done_per_s:
      prediction.jobs_per_s < COLLAPSED * perSecond
        ? prediction.jobs_per_s
        : perSecond * Math.min(1, prediction.claimed_share),
    connections,
    // Statements that wait for a core are counted when they come.
    postgres_cores: Math.min(cores, prediction.postgres_cores),
    commits_per_s: prediction.commits_per_s,
    wal_mb_per_s: prediction.wal_mb_per_s,
    messages_per_s: prediction.messages_per_s,
    limit,
    used,
    moved_by: mode === 'gateway' && limit === 'connections' ? 'fewer gateways' : MOVED_BY[limit]!,
  }
}

/** One core is what one nats-server is counted for; it can use more. */
function natsCores({ nats }: Parameters, { messages_per_s }: Prediction): number {
  return ((nats?.wake_up.server_us ?? 0) * messages_per_s) / 1e6
}

const HEAD = [
  'way',
  'hosts',
  'jobs/s',
  'connections',
  'Postgres cores',
  'commits/s',
  'WAL MB/s',
  'messages/s',
  'first limit',
  'what moves it',
]
const WAYS: Readonly<Record<Mode, string>> = {
  direct: 'PostgreSQL alone',
  'wake-ups': 'wake-ups over NATS',
  gateway: 'gateways',
}

export function sizingTable(rows: readonly SizingRow[]): string {
  const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
  const body = rows.map((row) => [
    WAYS[row.mode],
    whole(row.hosts),
    row.done_per_s < KEEPS_UP * row.jobs_per_s
      ? `${whole(row.jobs_per_s)}, only ${whole(row.done_per_s)} done`
      : whole(row.jobs_per_s),
    whole(row.connections),
    row.postgres_cores.toFixed(1),
    whole(row.commits_per_s),
    row.wal_mb_per_s.toFixed(1),
    whole(row.messages_per_s),
    `${row.limit}, ${whole(row.used * 100)} % used`,
    row.moved_by,
  ])
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(HEAD),
    line(HEAD.map((_, column) => (column === 0 || column > 7 ? '---' : '---:'))),
    ...body.map(line),
  ].join('\n')
}

export const SIZING_DOC = fileURLToPath(new URL('../../../docs/guides/sizing.md', import.meta.url))
const BEGIN = '<!-- sizing: written by `npm run -s bench -- model --measure --record` -->'
const END = '<!-- /sizing -->'

/** The block between the marks, without them. */
export function sizingBlock(text: string): string {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('the document has no block for the sizing table')
  return text.slice(begin + BEGIN.length, end).trim()
}

export function withSizing(text: string, block: string): string {
  const current = sizingBlock(text)
  return text.replace(`${BEGIN}\n\n${current}`, () => `${BEGIN}\n\n${block}`)
}

/** The table and the line that says where it comes from. */
export function sizingText(parameters: Parameters, effort = 1): string {
  const { machine, versions, measured_at } = parameters
  const from = `Costs measured on ${measured_at.slice(0, 10)} with ${machine.cores} cores (${machine.cpu}), PostgreSQL ${versions.postgres}, Node ${versions.node}, nats-server ${versions.nats ?? 'not installed'}.`
  return `${sizingTable(sizingRows(parameters, effort))}\n\n${from}`
}

export function writeSizing(parameters: Parameters, file: string = SIZING_DOC): void {
  writeFileSync(file, withSizing(readFileSync(file, 'utf8'), sizingText(parameters)))
}
