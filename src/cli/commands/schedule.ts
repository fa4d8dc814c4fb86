import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { listSchedules, nextTimes, removeSchedule, type Schedule, setSchedule } from '../../jobs/schedules.ts'
import { acting } from '../acting.ts'
import { type GlobalOptions, outputOf } from '../context.ts'
import { jsonObject } from '../json-argument.ts'
import { table } from '../output.ts'
import { PLAYBOOK_START, warn, whatIsWrongWith } from '../playbook-jobs.ts'
import { whenIs } from '../times.ts'

interface AddOptions extends GlobalOptions {
  readonly cron: string
  readonly kind: string
  readonly timeZone: string
  readonly payload?: Record<string, unknown>
  readonly disabled?: boolean
}

export function scheduleCommand(): Command {
  const schedule = new Command('schedule')
    .description('schedules: a job at every time that a cron line names')
    .addHelpText(
      'after',
      `
  $ stagedoor schedule add nightly_report --cron "0 6 * * 1-5" --time-zone Europe/Berlin --kind send_report
  $ stagedoor schedule list

Any number of workers: each time is fired once, by whoever comes first, by the database's clock.`,
    )
  schedule.addCommand(addCommand())
  schedule.addCommand(listCommand())
  schedule.addCommand(switchCommand('enable', true))
  schedule.addCommand(switchCommand('disable', false))
  schedule.addCommand(removeCommand())
  return schedule
}

function addCommand(): Command {
  return new Command('add')
    .description('add a schedule, or change one')
    .argument('<name>', 'lowercase letters, digits and _.:-')
    .requiredOption('--cron <line>', 'minute hour day month weekday; six fields begin with the second')
    .requiredOption('--kind <kind>', 'of the jobs that it enqueues')
    .option('--time-zone <name>', 'as Europe/Berlin', 'UTC')
    .option('--payload <json>', 'what its jobs carry', jsonObject)
    .option('--disabled', 'enqueue nothing yet')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const { added, wrong } = await acting(options, async (client) => ({
        added: await setSchedule(client, {
          schedule: name,
          cron: options.cron,
          time_zone: options.timeZone,
          job_kind: options.kind,
          enabled: options.disabled !== true,
          ...(options.payload && { safe_payload: options.payload }),
        }),
        wrong: await wrongPlaybook(client, options),
      }))
      output.result(wrong === undefined ? added : { ...added, warning: wrong }, () => {
        warn(output, wrong)
        output.line(`${pc.green('✔')} ${name} enqueues ${added.job_kind} at`)
        for (const time of nextTimes(added.cron, added.time_zone, new Date(), 3)) {
          output.line(`    ${inZone(time, added.time_zone)}`)
        }
        output.line(pc.dim('    …'))
        if (!added.enabled) output.line(pc.dim(`  It is disabled: stagedoor schedule enable ${name}`))
      })
    })
}

async function wrongPlaybook(client: Client, { kind, payload }: AddOptions): Promise<string | undefined> {
  if (kind !== PLAYBOOK_START) return undefined
  const named =
    typeof payload?.playbook === 'string' && payload.playbook !== '' ? payload.playbook : undefined
  return whatIsWrongWith(client, named, `Say which: --payload '{"playbook": "NAME", "args": {}}'`)
}

function listCommand(): Command {
  return new Command('list')
    .description('all schedules and when each is due')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const schedules = await acting(options, listSchedules)
      output.result(schedules, () => {
        if (schedules.length === 0) {
          return output.line(
            'No schedule yet: stagedoor schedule add nightly_report --cron "0 6 * * *" --kind send_report',
          )
        }
        output.line(scheduleTable(schedules))
      })
    })
}

function scheduleTable(schedules: readonly Schedule[]): string {
  return table(
    [
      ['', 'schedule', 'cron', 'time zone', 'kind', 'next', 'last'],
      ...schedules.map((one) => [
        one.enabled ? '● on' : '○ off',
        one.schedule,
        one.cron,
        one.time_zone,
        one.job_kind,
        one.enabled ? whenIs(one.next_at) : '–',
        one.last_due ? whenIs(one.last_due) : '–',
      ]),
    ],
    (cell, column, row) => {
      if (row === 0) return pc.dim(cell)
      if (column === 0) return schedules[row - 1]!.enabled ? pc.green(cell) : pc.yellow(cell)
      return column >= 5 ? pc.dim(cell) : cell
    },
  )
}

function switchCommand(name: 'enable' | 'disable', enabled: boolean): Command {
  return new Command(name)
    .description(
      enabled ? 'its jobs are enqueued again, from now on' : 'nothing more is enqueued; it is kept',
    )
    .argument('<name>', 'as `stagedoor schedule list` shows it')
    .action(async (schedule: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const changed = await acting(options, async (client) => {
        const found = (await listSchedules(client)).find((one) => one.schedule === schedule)
        if (!found) throw notThere(schedule)
        return setSchedule(client, { ...found, enabled })
      })
      output.result(changed, () =>
        output.line(
          `${pc.green('✔')} ${schedule} is ${enabled ? `on; next ${whenIs(changed.next_at)}` : 'off'}.`,
        ),
      )
    })
}

function removeCommand(): Command {
  return new Command('remove')
    .description('take a schedule away; jobs that it enqueued stay')
    .argument('<name>', 'as `stagedoor schedule list` shows it')
    .action(async (schedule: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      if (!(await acting(options, (client) => removeSchedule(client, schedule)))) throw notThere(schedule)
      output.result({ schedule, removed: true }, () => output.line(`${pc.green('✔')} ${schedule} is gone.`))
    })
}

function notThere(schedule: string): StagedoorError {
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
