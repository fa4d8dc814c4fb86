/** `stagedoor job`: the job queue and its kinds. */
import pc from 'picocolors'
import { READING_KIND } from '../ingest/reading.ts'
import { BUILT_IN_KINDS } from '../jobs/built-in-kinds.ts'
import { type DeadLetterGroup, groupDeadLetters, replaySelection } from '../jobs/dead-letters.ts'
import { hasLiveWorker } from '../jobs/library.ts'
import {
  cancelJob,
  enqueue,
  findJob,
  type JobDetail,
  type JobKind,
  type JobRecord,
  type JobStatus,
  jobOfKey,
  type KindSettings,
  type KindStatistics,
  listJobs,
  listKinds,
  pauseKind,
  queueStatistics,
  requireJob,
  resumeKind,
  setKind,
} from '../jobs/queue.ts'
import {
  type JobStatistics,
  type JobWorker,
  jobStatistics,
  listWorkers,
  STATISTICS_WINDOWS,
  type StatisticsWindow,
} from '../jobs/statistics.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import {
  argumentInvalid,
  integerBetween,
  parseFutureTime,
  parseJsonObject,
  parsePastTime,
} from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, formatCount, formatDuration, formatRelativeTime, joinWords, plural } from './format.ts'
import { idOf, idsOf } from './ids.ts'
import { type Session, workspaceIfNamed } from './session.ts'
import { type Column, type NextStep, type Output, painter } from './terminal.ts'
import { printable, printableLine } from './text.ts'

export const jobCommand = () =>
  commandGroup(
    'job',
    'the job queue: enqueue, list, cancel, replay, pause',
    [
      enqueueCommand(),
      listCommand(),
      showCommand(),
      cancelCommand(),
      deadLettersCommand(),
      replayCommand(),
      statisticsCommand(),
      workersCommand(),
      kindsCommand(),
      kindCommand(),
      pauseCommand(),
      resumeCommand(),
    ],
    `
  $ stagedoor job enqueue send_report --key week-45 --payload '{"report_id": "r1"}'
  $ stagedoor job list --status waiting
  $ stagedoor job show <id>
  $ stagedoor job dead-letters
  $ stagedoor job replay --kind send_report
  $ stagedoor job kind set send_report max_attempts=3 concurrency=2

Inside your own transaction, from any language: select iu_core.fn_job_enqueue('send_report')`,
  )

const jobId = idOf('job')
/** Jobs of this kind name a playbook and start it. */
export const PLAYBOOK_START = 'playbook_start'
const STATUSES = ['waiting', 'running', 'completed', 'cancelled', 'dead'] as const

const enqueueCommand = () =>
  command('enqueue', 'put a job into the queue')
    .argument('<kind>', 'lowercase letters, digits and _.:-')
    .option('--key <text>', 'the same kind and key again is the same job')
    .option('--payload <json>', 'references that its handler needs', parseJsonObject)
    .option('--priority <n>', 'higher first', integerBetween(-32_767, 32_767), 0)
    .option('--at <time>', 'not before: 5m, 2h, or 2026-11-16T08:00:00Z', parseFutureTime)
    .option('--executor <name>', 'which workers run it', 'PG_worker')
    .option('--source-ref <text>', 'what it comes from')
    .option('--target-ref <text>', 'what it is about')
    .option('--payload-ref <text>', 'where its data is')
    .workspace('whose members may see it')
    .run(async ({ options, output, transaction }, kind) => {
      const { id, known } = await transaction(async (client) => {
        const before = options.key === undefined ? undefined : await jobOfKey(client, kind, options.key)
        const id = await enqueue(client, {
          job_kind: kind,
          priority: options.priority,
          idempotency_key: options.key,
          payload: options.payload,
          process_after: options.at,
          executor: options.executor,
          source_ref: options.sourceRef,
          target_ref: options.targetRef,
          payload_ref: options.payloadRef,
          workspace_id: await workspaceIfNamed(client, options.workspace),
        })
        return { id, known: before === id ? await findJob(client, id) : undefined }
      })
      const job = `${kind} ${pc.dim(id)}`
      const due = options.at ? `, due ${formatRelativeTime(options.at)}` : ''
      const warn = () =>
        output.warn(`${job} has this key already: it is ${known?.status}. Nothing was added.`)
      output.result(
        { job_id: id, created: known === undefined },
        known ? warn : job + due,
        [known ? 'See its result' : 'See its status', `stagedoor job show ${id}`],
        !known && startWorkerStep(kind, options.executor),
      )
    })

const listCommand = () =>
  pagedCommand('list', 'jobs of every status, newest first')
    .option('--status <status>', 'only these', STATUSES)
    .run(async (session) => {
      const { output } = session
      const jobs = await readJobs(session, session.options, session.options.status)
      const fromSql = pc.cyan("  select iu_core.fn_job_enqueue('send_report')")
      const { status, kind } = session.options
      const isFiltered = status !== undefined || kind !== undefined
      output.list(
        jobs,
        JOB_COLUMNS,
        isFiltered
          ? 'No such job.'
          : `No job here. \`stagedoor job enqueue send_report\` adds one, and so does from SQL:\n${fromSql}`,
      )
    })

const deadLettersCommand = () =>
  pagedCommand('dead-letters', 'jobs that failed for good and need a person')
    .option('--groups', 'count them by kind and error instead')
    .run(async (session) => {
      const { output } = session
      if (session.options.groups) return printGroups(session, session.options)
      const jobs = await readJobs(session, session.options, 'dead')
      output.list(jobs, JOB_COLUMNS, 'No dead letters.')
      if (jobs.length === 0) return
      const [kind, ...others] = new Set(jobs.map(({ job_kind }) => job_kind))
      const which = others.length === 0 ? `--kind ${kind}` : '<id…>'
      output.next(
        ['See the whole error', `stagedoor job show ${jobs[0]!.job_id}`],
        ['When the cause is removed, run them again', `stagedoor job replay ${which}`],
      )
    })

async function printGroups(
  { output, transaction }: Session,
  { workspace, kind, limit }: { workspace?: string; kind?: string; limit: number },
): Promise<void> {
  const { groups } = await transaction(async (client) =>
    groupDeadLetters(client, { kind, limit, workspaceId: await workspaceIfNamed(client, workspace) }),
  )
  output.list(groups, GROUP_COLUMNS, 'No dead letters.')
  const [first] = groups
  if (first)
    output.next([
      'When the cause is removed, replay a group',
      `stagedoor job replay --group ${first.group_id}`,
    ])
}

const GROUP_COLUMNS: Column<DeadLetterGroup>[] = [
  { title: 'group', value: ({ group_id }) => group_id },
  { title: 'jobs', value: ({ count }) => formatCount(count) },
  { title: 'kind', value: ({ job_kind }) => job_kind },
  { title: 'last', value: ({ last_failed_at }) => `${formatAge(last_failed_at)} ago` },
  { title: 'error', value: ({ error }) => printableLine(error), dim: true, shrinkTo: 20 },
]

const pagedCommand = (name: string, description: string) =>
  command(name, description)
    .option('--kind <kind>', 'only of this kind')
    .workspace('only of this one')
    .limit()
    .option('--after <id>', 'the page after this job', jobId)
    .actor()

function readJobs(
  { transaction }: Session,
  { workspace, kind, after, limit }: { workspace?: string; kind?: string; after?: string; limit: number },
  status?: JobStatus,
): Promise<JobRecord[]> {
  return transaction(async (client) => {
    const workspaceId = await workspaceIfNamed(client, workspace)
    return listJobs(client, { limit, status, kind, after, workspaceId })
  })
}

const showCommand = () =>
  command('show', 'one job: its status, its origin, its attempts')
    .argument('<id>', 'of the job', jobId)
    .actor()
    .run(async ({ output, transaction, isMember }, id) => {
      const { job, unclaimed } = await transaction(async (client) => {
        const job = await requireJob(client, id)
        return { job, unclaimed: !isMember && (await hasNoWorker(client, job)) }
      })
      output.result(job, () => printJob(output, job, unclaimed))
    })

/** Due, and no running worker would claim it: the first thing to know of a job that does not run. */
async function hasNoWorker(client: Client, job: JobRecord): Promise<boolean> {
  if (job.status !== 'waiting' || job.process_after! > new Date()) return false
  return !(await hasLiveWorker(client, job.job_kind, job.executor))
}

function printJob(output: Output, job: JobDetail, unclaimed: boolean): void {
  const { job_id: id, status } = job
  const through = job.actor_via ? ` (through ${job.actor_via})` : ''
  output.line(`${paintStatus(statusOf(job))}  ${pc.bold(job.job_kind)}`)
  output.dim(printableLine(remarkOf({ ...job, last_error: null })))
  if (unclaimed) output.line(pc.yellow(`No running worker handles ${job.job_kind}.`))
  output.line()
  output.facts([
    ['id', id],
    ['executor', job.executor !== 'PG_worker' && job.executor],
    ['enqueued', `${formatRelativeTime(job.enqueued_at)} by ${job.actor}${through}`],
    ['due', job.process_after?.toISOString()],
    ['finished', job.finished_at?.toISOString()],
    ['attempts', attemptsOf(job)],
    ['priority', job.priority || null],
    ['key', job.idempotency_key],
    ['source', job.source_ref],
    ['target', job.target_ref],
    ['payload ref', job.payload_ref],
    ['payload', Object.keys(job.payload).length > 0 && JSON.stringify(job.payload)],
    ['event', job.causation_event_id],
    ['result', job.result !== null && JSON.stringify(job.result)],
  ])
  // The last of them is what is shown as the error of the job, unless it was cancelled with a reason.
  const [latest] = job.attempt_errors.slice(-1)
  const isShown = latest === undefined || latest.error !== job.last_error
  if (job.attempt_errors.length > 0) printAttemptErrors(output, job)
  if (job.last_error !== null && isShown) {
    const error = printable(job.last_error)
    // What has ended well since is history.
    output.line(`\n${status === 'completed' ? pc.dim(`An earlier attempt: ${error}`) : pc.red(error)}`)
  }
  output.next(
    unclaimed && RUN_A_HANDLER,
    status === 'dead' && ['When the cause is fixed, run it again', `stagedoor job replay ${id}`],
    (status === 'waiting' || status === 'running') && ['Cancel it', `stagedoor job cancel ${id}`],
    job.correlation_id !== null && ['See what it came from and what came of it', `stagedoor trace ${id}`],
  )
}

function printAttemptErrors(output: Output, { attempt_errors, status }: JobDetail): void {
  output.heading(attempt_errors.length === 20 ? 'The last 20 attempts that failed' : 'Attempts that failed')
  for (const { attempt, replay, crashed, error, failed_at } of attempt_errors) {
    const what = joinWords([
      crashed ? 'its worker died' : `attempt ${attempt}`,
      replay > 0 && `after ${replay === 1 ? 'a replay' : `${replay} replays`}`,
      formatRelativeTime(new Date(failed_at)),
    ])
    output.dim(`  ${what}`)
    const text = printable(error).replaceAll('\n', '\n    ')
    // What has ended well since is history.
    output.line(`    ${status === 'completed' ? pc.dim(text) : pc.red(text)}`)
  }
}

const RUN_A_HANDLER: NextStep = ['Run a handler of yours for it', 'stagedoor worker --handlers ./jobs.ts']

function attemptsOf({ attempts, crashes, replays }: JobRecord): string {
  return joinWords([
    String(attempts),
    crashes > 0 && `its worker died ${times(crashes)}`,
    replays > 0 && `replayed ${times(replays)}`,
  ])
}

const cancelCommand = () =>
  command('cancel', 'cancel a job that has not ended')
    .argument('<id>', 'of the job', jobId)
    .option('--reason <text>', 'kept with it')
    .actor()
    .run(async ({ options, output, transaction }, id) => {
      const outcome = await transaction((client) => cancelJob(client, id, options.reason))
      output.result({ job_id: id, outcome }, () => {
        if (outcome === 'cancelled') return output.done('Cancelled; it will not run.')
        output.warn('It is running. Its worker is asked to stop; if it completes first, it stays completed.')
      })
    })

const replayCommand = () =>
  command('replay', 'put dead letters back into the queue, with all their attempts')
    .argument('[id...]', 'of dead letters', idsOf('job'))
    .option('--kind <kind>', 'all of this kind')
    .option('--group <id>', 'all of this group, as `stagedoor job dead-letters --groups` shows it')
    .option('--dry-run', 'replay nothing; say how many it would be')
    .option(
      '--failed-before <time>',
      'all that failed before then: 1h ago, or 2026-11-16T08:00:00Z',
      parsePastTime,
    )
    .workspace('only of this one; needed with --as')
    .limit(1000, 100_000, 'how many at most, oldest first')
    .actor()
    .examples(
      '  $ stagedoor job dead-letters --groups',
      '  $ stagedoor job replay --kind send_report --dry-run',
      '  $ stagedoor job replay --kind send_report',
    )
    .run(async ({ options, output, transaction }, ids) => {
      const { dryRun = false } = options
      const replayed = await transaction(async (client) =>
        replaySelection(client, {
          dryRun,
          group: options.group,
          limit: options.limit,
          jobs: ids.length > 0 ? ids : undefined,
          kind: options.kind,
          failedBefore: options.failedBefore,
          workspaceId: await workspaceIfNamed(client, options.workspace),
        }),
      )
      output.result({ jobs: replayed }, () => {
        if (replayed.length === 0)
          return output.line('No dead letter matches. `stagedoor job dead-letters` lists them.')
        if (dryRun)
          return output.line(
            `${plural(replayed.length, 'job', 'jobs')} would be replayed. Nothing was changed.`,
          )
        output.done(`${plural(replayed.length, 'job is', 'jobs are')} in the queue again.`)
        output.next(replayed.length === 1 && ['See its status', `stagedoor job show ${replayed[0]}`])
      })
    })

const statisticsCommand = () =>
  command('statistics', 'throughput and latency of each kind over a window of time')
    .option('--window <window>', 'how far back', Object.keys(STATISTICS_WINDOWS) as StatisticsWindow[], '1h')
    .option('--kind <kind>', 'only of this kind')
    .workspace('only of this one')
    .actor()
    .run(async ({ options, output, transaction }) => {
      const { window, kind } = options
      const statistics = await transaction(async (client) =>
        jobStatistics(client, {
          window,
          kind,
          workspaceId: await workspaceIfNamed(client, options.workspace),
        }),
      )
      output.result(statistics, () => {
        if (statistics.kinds.length === 0)
          return output.line(`No job waits, runs or has ended within the last ${window}.`)
        output.records(statistics.kinds, STATISTICS_COLUMNS)
      })
    })

const ms = (time: number | null): string => (time === null ? '·' : formatDuration(time))

const STATISTICS_COLUMNS: Column<JobStatistics['kinds'][number]>[] = [
  { title: 'kind', value: ({ job_kind }) => job_kind },
  { title: 'due', value: ({ waiting }) => countOf(waiting) },
  { title: 'running', value: ({ running }) => countOf(running) },
  { title: 'completed', value: ({ completed }) => countOf(completed) },
  {
    title: 'failed',
    value: ({ failed }) => countOf(failed),
    paint: (cell, { failed }) => (failed > 0 ? pc.red(cell) : cell),
  },
  { title: 'waited p50', value: ({ wait_p50_ms }) => ms(wait_p50_ms) },
  { title: 'p95', value: ({ wait_p95_ms }) => ms(wait_p95_ms) },
  { title: 'ran p50', value: ({ run_p50_ms }) => ms(run_p50_ms) },
  { title: 'p95', value: ({ run_p95_ms }) => ms(run_p95_ms) },
]

const workersCommand = () =>
  command('workers', 'who works: each worker, its kinds, what it runs, its last heartbeat')
    .actor()
    .run(async ({ output, transaction }) => {
      output.list(
        await transaction(listWorkers),
        WORKER_COLUMNS,
        'No worker is registered. `stagedoor start` runs one, and so does `stagedoor worker`.',
      )
    })

const WORKER_COLUMNS: Column<JobWorker>[] = [
  {
    value: ({ is_alive }) => (is_alive ? '● alive' : '✖ silent'),
    paint: (cell, { is_alive }) => (is_alive ? pc.green(cell) : pc.red(cell)),
  },
  { title: 'worker', value: ({ name, worker_id }) => printableLine(name ?? worker_id) },
  { title: 'executor', value: ({ executor }) => executor },
  { title: 'running', value: ({ running_count }) => countOf(running_count) },
  { title: 'heartbeat', value: ({ heartbeat_at }) => `${formatAge(heartbeat_at)} ago` },
  { title: 'kinds', value: ({ kinds }) => kinds.join(', '), dim: true, shrinkTo: 20 },
]

// Kinds of jobs: their counts, their settings, whether they are paused.

const kindsCommand = () =>
  command('kinds', 'the kinds of jobs: how many wait, run and are dead, and their settings').run(
    async ({ output, transaction }) => {
      const { kinds, statistics } = await transaction(async (client) => ({
        kinds: await listKinds(client),
        statistics: await queueStatistics(client),
      }))
      const counts = new Map(statistics.map((one) => [one.job_kind, one]))
      const merged = kinds.map((kind) => ({ ...kind, ...(counts.get(kind.job_kind) ?? NONE) }))
      output.result(merged, () => output.records(merged, COLUMNS))
    },
  )

const NONE: Omit<KindStatistics, 'job_kind'> = {
  waiting: 0,
  later: 0,
  running: 0,
  dead: 0,
  oldest_due_s: null,
}

const countOf = (count: number): string => (count === 0 ? '·' : formatCount(count))

const COLUMNS: Column<JobKind & KindStatistics>[] = [
  { title: 'kind', value: (kind) => kind.job_kind },
  { title: 'due', value: (kind) => countOf(kind.waiting) },
  { title: 'later', value: (kind) => countOf(kind.later) },
  { title: 'running', value: (kind) => countOf(kind.running) },
  {
    title: 'dead',
    value: (kind) => countOf(kind.dead),
    paint: (cell, { dead }) => (dead > 0 ? pc.red(cell) : cell),
  },
  {
    title: 'settings',
    value: (kind) => describeSettings(kind),
    paint: (cell, { paused_at }) => (paused_at ? pc.yellow(cell) : pc.dim(cell)),
  },
]

/** Only what differs from the defaults. */
function describeSettings(kind: JobKind): string {
  const parts = [
    kind.paused_at && `paused by ${kind.paused_by}`,
    kind.concurrency && `${kind.concurrency} at once`,
    kind.rate && `${kind.rate} in ${kind.rate_period}`,
    kind.serial_by && `one at a time by ${kind.serial_by}`,
    kind.fair_by && `in turns by ${kind.fair_by}`,
    kind.key_mode !== 'keep' && kind.key_mode,
    kind.max_attempts !== 8 && (kind.max_attempts === 1 ? 'one attempt' : `${kind.max_attempts} attempts`),
    kind.timeout && `at most ${kind.timeout}`,
    kind.description,
  ]
  return joinWords(parts, ' · ')
}

/** What of a kind can be set, and what it means. */
const SETTINGS: Readonly<Record<string, string>> = {
  description: 'for people',
  max_attempts: 'attempts before a job is a dead letter',
  max_crashes: 'deaths of its worker before a job is a dead letter',
  backoff: 'wait after the first failure, doubled each time',
  max_backoff: 'longest wait between two attempts',
  timeout: 'how long one attempt may take',
  concurrency: 'how many run at once, over all workers',
  rate: 'how many begin in a rate-period',
  rate_period: 'the time that rate counts in',
  serial_by: 'one at a time for each source_ref, target_ref or payload_ref',
  fair_by: 'in turns for each source_ref, target_ref or payload_ref',
  key_mode: 'keep, replace or debounce',
  debounce: 'wait for more of the same key',
  max_debounce: 'longest such wait',
  key_retention: 'how long a key is remembered',
}
const NAMES = Object.keys(SETTINGS)

const kindCommand = () => commandGroup('kind', 'the settings of one kind', [setCommand()])

const setCommand = () => {
  const set = command('set', 'change settings of a kind; what is not named stays')
    .argument('<kind>', 'it is registered where it is new')
    .argument('[setting=value...]', 'the same settings in short', parseSettings, {})
  for (const [name, about] of Object.entries(SETTINGS))
    set.option(`--${name.replaceAll('_', '-')} <value>`, about)
  return set
    .examples(
      `"none" removes a limit. Each flag can also be written as setting=value: ${NAMES.join(', ')}.`,
      '',
      '  $ stagedoor job kind set send_report --max-attempts 3 --backoff "10 seconds" --timeout "2 minutes"',
      '  $ stagedoor job kind set send_report max_attempts=3 backoff="10 seconds" timeout="2 minutes"',
      '  $ stagedoor job kind set crawl concurrency=4 rate=100 rate_period="1 minute" fair_by=source_ref',
      '  $ stagedoor job kind set rebuild_index key_mode=debounce debounce="5 seconds"',
      '  $ stagedoor job kind set crawl concurrency=none',
    )
    .run(async ({ options, output, transaction }, name, short) => {
      const given: KindSettings = { ...short, ...fromFlags(options as Record<string, string>) }
      if (Object.keys(given).length === 0)
        throw argumentInvalid(
          'No setting is named',
          'Name one, as --max-attempts 3. `stagedoor job kind set --help` lists them.',
        )
      const set = await transaction(async (client) => {
        await setKind(client, name, given)
        return (await listKinds(client)).find(({ job_kind }) => job_kind === name)!
      })
      output.result(set, `${name}: ${describeSettings(set) || 'the defaults'}`)
    })
}

function parseSettings(given: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const [name, ...rest] = given.split('=')
  if (!NAMES.includes(name!) || rest.length === 0)
    throw argumentInvalid(
      `${given} is no setting of a kind; they are ${NAMES.join(', ')}`,
      'Write setting=value, as max_attempts=3.',
    )
  return { ...before, [name!]: parseSetting(rest.join('=')) }
}

function parseSetting(given: string): string | number | null {
  return given === 'none' ? null : /^\d+$/.test(given) ? Number(given) : given
}

function fromFlags(flags: Readonly<Record<string, string>>): Record<string, unknown> {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const given = flags[camel(name)]
      return given === undefined ? [] : [[name, parseSetting(given)]]
    }),
  )
}

const pauseCommand = () => switchCommand('pause', 'begin no more jobs of this kind; running ones go on')
const resumeCommand = () => switchCommand('resume', 'begin jobs of a paused kind again')

const switchCommand = (name: 'pause' | 'resume', description: string) =>
  command(name, description)
    .argument('<kind>', 'as `stagedoor job kinds` shows it')
    .run(async ({ output, transaction }, kind) => {
      const paused = name === 'pause'
      await transaction((client) => (paused ? pauseKind : resumeKind)(client, kind))
      output.result({ job_kind: kind, paused }, () => {
        if (!paused) return output.done(`${kind} runs again.`)
        output.done(`${kind} is paused. Running jobs go on; no more are begun.`)
        output.dim(`  Next: stagedoor job resume ${kind}`)
      })
    })

// How jobs look on the terminal.

const MARKS: Record<JobStatus, string> = {
  waiting: '○',
  running: '●',
  completed: '✔',
  cancelled: '–',
  dead: '✖',
}

export function statusOf({ status }: Pick<JobRecord, 'status'>): string {
  return `${MARKS[status]} ${status}`
}

export const paintStatus = painter({
  green: ['✔ completed'],
  red: ['✖ dead'],
  cyan: ['● running'],
  yellow: ['○ waiting'],
})

/** What one would ask of it next: when it runs, how long it took, why it failed. */
export function remarkOf(job: JobRecord): string {
  const failed = job.last_error === null ? '' : `: ${job.last_error}`
  switch (job.status) {
    case 'waiting': {
      const due = job.process_after! <= new Date() ? 'due' : `again ${formatRelativeTime(job.process_after!)}`
      return job.attempts > 0
        ? `${due}, failed ${times(job.attempts)}${failed}`
        : due.replace('again ', 'due ')
    }
    case 'running':
      return `attempt ${job.attempts}, begun ${formatRelativeTime(job.started_at!)}`
    case 'completed':
      return `took ${formatDuration(job.finished_at!.getTime() - job.started_at!.getTime())}${job.attempts > 1 ? `, attempt ${job.attempts}` : ''}`
    case 'cancelled':
      return job.last_error ?? ''
    case 'dead':
      return `failed ${times(job.attempts)}${failed}`
  }
}

const JOB_COLUMNS: Column<JobRecord>[] = [
  { title: 'id', value: (job) => job.job_id },
  { title: 'status', value: statusOf, paint: paintStatus },
  { title: 'kind', value: (job) => job.job_kind },
  { title: 'age', value: (job) => formatAge(job.enqueued_at) },
  { value: remarkOf, dim: true, shrinkTo: 20 },
]

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** Who would run it, by its executor; the kinds that Stagedoor brings are run by the server itself. */
export function startWorkerStep(kind: string, executor = 'PG_worker'): NextStep {
  if (executor !== 'PG_worker')
    return [
      `A worker of ${executor} claims it over HTTP, as examples/jobs/worker.py does`,
      `stagedoor token --role stagedoor_executor --executor ${executor}`,
    ]
  if (kind.startsWith(`${READING_KIND}:`))
    return ['A process that shares the store of the file reads it', 'stagedoor start']
  return BUILT_IN_KINDS.includes(kind) ? ['The server runs it', 'stagedoor start'] : RUN_A_HANDLER
}
