/** `stagedoor schedule`: jobs at the times of a cron line. */
import pc from 'picocolors'
import { deleteSchedule, listSchedules, nextTimes, type Schedule, setSchedule } from '../jobs/schedules.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { parseJsonObject } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatRelativeTime } from './format.ts'
import { PLAYBOOK_START } from './job.ts'
import { playbookStartProblem } from './playbook.ts'
import type { Column } from './terminal.ts'

const NAME = 'as `stagedoor schedule list` shows it'

export const scheduleCommand = () =>
  commandGroup(
    'schedule',
    'schedules: a job at every time that a cron line names',
    [
      setCommand(),
      listCommand(),
      nextRunsCommand(),
      switchCommand('enable', true),
      switchCommand('disable', false),
      deleteCommand(),
    ],
    `
  $ stagedoor schedule set nightly_report --cron "0 6 * * 1-5" --time-zone Europe/Berlin --kind send_report
  $ stagedoor schedule list

Any number of workers may run: each time is fired once, by the first of them, by the database's clock.`,
  )

const setCommand = () =>
  command('set', 'create a schedule, or update one')
    .argument('<name>', 'lowercase letters, digits and _.:-')
    .requiredOption('--cron <line>', 'minute hour day month weekday; six fields begin with the second')
    .requiredOption('--kind <kind>', 'of the jobs that it enqueues')
    .option('--time-zone <name>', 'as Europe/Berlin', 'UTC')
    .option('--payload <json>', 'what its jobs carry', parseJsonObject)
    .option('--disabled', 'enqueue nothing yet')
    .run(async ({ options, output, transaction }, name) => {
      const { set, wrong } = await transaction(async (client) => ({
        set: await setSchedule(client, {
          schedule: name,
          cron: options.cron,
          time_zone: options.timeZone,
          job_kind: options.kind,
          enabled: options.disabled !== true,
          ...(options.payload && { payload: options.payload }),
        }),
        wrong: await wrongPlaybook(client, options.kind, options.payload?.playbook),
      }))
      output.result(wrong === undefined ? set : { ...set, warning: wrong }, () => {
        if (wrong !== undefined) output.caution(wrong)
        output.done(`${name} enqueues ${set.job_kind} at`)
        for (const time of nextTimes(set.cron, set.time_zone, new Date(), 3)) {
          output.line(`    ${inZone(time, set.time_zone)}`)
        }
        output.dim('    …')
        if (!set.enabled) output.dim(`  It is disabled: stagedoor schedule enable ${name}`)
      })
    })

async function wrongPlaybook(client: Client, kind: string, playbook: unknown): Promise<string | undefined> {
  if (kind !== PLAYBOOK_START) return undefined
  const named = typeof playbook === 'string' && playbook !== '' ? playbook : undefined
  return playbookStartProblem(client, named, `Say which: --payload '{"playbook": "NAME", "args": {}}'`)
}

const listCommand = () =>
  command('list', 'all schedules and when each is due').run(async ({ output, transaction }) => {
    output.list(
      await transaction(listSchedules),
      COLUMNS,
      'No schedule yet: stagedoor schedule set nightly_report --cron "0 6 * * *" --kind send_report',
    )
  })

const MAX_RUNS = 100

const nextRunsCommand = () =>
  command('next-runs', 'the next times of a cron line, before it is a schedule; changes nothing')
    .requiredOption('--cron <line>', 'minute hour day month weekday; six fields begin with the second')
    .option('--time-zone <name>', 'as Europe/Berlin', 'UTC')
    .limit(5, MAX_RUNS, 'how many times')
    .examples('  $ stagedoor schedule next-runs --cron "0 6 * * 1-5" --time-zone Europe/Berlin')
    .run(({ options, output }) => {
      const next_runs = nextTimes(options.cron, options.timeZone, new Date(), options.limit)
      output.result({ next_runs }, () => {
        for (const time of next_runs) output.line(inZone(time, options.timeZone))
      })
    })

const COLUMNS: Column<Schedule>[] = [
  {
    value: ({ enabled }) => (enabled ? '● on' : '○ off'),
    paint: (cell, { enabled }) => (enabled ? pc.green(cell) : pc.yellow(cell)),
  },
  { title: 'schedule', value: ({ schedule }) => schedule },
  { title: 'cron', value: ({ cron }) => cron },
  { title: 'time zone', value: ({ time_zone }) => time_zone },
  { title: 'kind', value: ({ job_kind }) => job_kind },
  {
    title: 'next',
    value: ({ enabled, next_at }) => (enabled ? formatRelativeTime(next_at) : '–'),
    dim: true,
  },
  { title: 'last', value: ({ last_due }) => (last_due ? formatRelativeTime(last_due) : '–'), dim: true },
]

const switchCommand = (name: 'enable' | 'disable', enabled: boolean) =>
  command(name, enabled ? 'its jobs are enqueued again, from now on' : 'nothing more is enqueued; it is kept')
    .argument('<name>', NAME)
    .run(async ({ output, transaction }, schedule) => {
      const changed = await transaction(async (client) => {
        const found = (await listSchedules(client)).find((one) => one.schedule === schedule)
        if (!found) throw notFound(schedule)
        return setSchedule(client, { ...found, enabled })
      })
      const state = enabled ? `on; next ${formatRelativeTime(changed.next_at)}` : 'off'
      output.result(changed, `${schedule} is ${state}.`)
    })

const deleteCommand = () =>
  command('delete', 'delete a schedule; jobs that it enqueued stay')
    .argument('<name>', NAME)
    .run(async ({ output, transaction }, schedule) => {
      if (!(await transaction((client) => deleteSchedule(client, schedule)))) throw notFound(schedule)
      output.result({ schedule, deleted: true }, `${schedule} is deleted.`)
    })

function notFound(schedule: string): StagedoorError {
  return new StagedoorError('schedule_not_found', { what: `schedule ${schedule}` })
}

function inZone(time: Date, timeZone: string): string {
  const written = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: time.getSeconds() === 0 ? undefined : '2-digit',
  }).format(time)
  return `${written} ${timeZone}`
}
