import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { findJob, type JobFilter, type JobRecord, type JobState, listJobs } from '../../../jobs/queue.ts'
import { isSomebodyWorking } from '../../../jobs/workers.ts'
import { type ActingOptions, acting, asOption, isNamed, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { idOf } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { type Output, table, visible, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { printNext } from '../upload/next-step.ts'
import { jobTable, paintState, remarkOf, stateOf } from './screen.ts'

export const jobId = idOf('job')
const STATES: readonly JobState[] = ['waiting', 'running', 'completed', 'cancelled', 'dead']

interface ListOptions extends ActingOptions {
  readonly state?: JobState
  readonly kind?: string
  readonly workspace?: string
  readonly limit: number
  readonly after?: string
}

export function listCommand(): Command {
  return listing('list', 'jobs wherever they are, newest first')
    .addOption(new Option('--state <state>', 'only these').choices(STATES))
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const jobs = await readJobs(options, options.state)
      output.result(jobs, () => {
        if (jobs.length > 0) return output.line(jobTable(jobs))
        output.line('No job here. `stagedoor job enqueue send_report` makes one, and so does from SQL:')
        output.line(pc.cyan("  select iu_core.fn_job_enqueue('send_report')"))
      })
    })
}

export function deadCommand(): Command {
  return listing('dead', 'dead letters: jobs that failed for good and wait for a person').action(
    async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const jobs = await readJobs(options, 'dead')
      output.result(jobs, () => {
        if (jobs.length === 0) return output.line('No dead letters. All is well.')
        output.line(jobTable(jobs))
        const kinds = [...new Set(jobs.map(({ job_kind }) => job_kind))]
        printNext(output, [
          { what: 'See all of its error', command: `stagedoor job show ${jobs[0]!.job_id}` },
          {
            what: 'When the reason is gone, run them again',
            command:
              kinds.length === 1 ? `stagedoor job replay --kind ${kinds[0]}` : 'stagedoor job replay <id…>',
          },
        ])
      })
    },
  )
}

function listing(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--kind <kind>', 'only of this kind')
    .option('--workspace <id or name>', 'only of this one')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this job', jobId)
    .addOption(asOption())
    .addOption(userOption())
}

function readJobs(options: ListOptions, state: JobState | undefined): Promise<JobRecord[]> {
  const { workspace, kind, after, limit } = options
  return acting(
    options,
    async (client) => {
      const filter: JobFilter = {
        limit,
        ...(state !== undefined && { state }),
        ...(kind !== undefined && { job_kind: kind }),
        ...(after !== undefined && { after }),
        ...(workspace !== undefined && { workspace_id: await workspaceOf(client, workspace) }),
      }
      return listJobs(client, filter)
    },
    workspace === undefined ? {} : { workspace },
  )
}

export function showCommand(): Command {
  return new Command('show')
    .description('one job: where it stands, where it came from, how it went')
    .argument('<id>', 'of the job', jobId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const { job, neglected } = await acting(options, async (client) => {
        const found = await findJob(client, id)
        if (!found) throw new StagedoorError('job_not_found', { what: `job ${id}` })
        return { job: found, neglected: !isNamed(options) && (await isNeglected(client, found)) }
      })
      output.result(job, () => printJob(output, job, neglected))
    })
}

/** Due, and nobody is there who would begin it: what one wonders about first. */
async function isNeglected(client: Client, job: JobRecord): Promise<boolean> {
  if (job.state !== 'waiting' || job.process_after! > new Date()) return false
  return !(await isSomebodyWorking(client, job.job_kind, job.executor))
}

function printJob(output: Output, job: JobRecord, neglected: boolean): void {
  output.line(`${paintState(stateOf(job))}  ${pc.bold(job.job_kind)}`)
  output.line(pc.dim(visibleLine(remarkOf({ ...job, last_error: null }))))
  if (neglected) output.line(pc.yellow(`No worker runs ${job.job_kind} just now.`))
  output.line()
  const facts: [string, string | null][] = [
    ['id', job.job_id],
    ['executor', job.executor === 'PG_worker' ? null : job.executor],
    [
      'enqueued',
      `${whenIs(job.enqueued_at)} by ${job.actor}${job.actor_via ? ` (through ${job.actor_via})` : ''}`,
    ],
    ['due', job.process_after?.toISOString() ?? null],
    ['finished', job.finished_at?.toISOString() ?? null],
    ['attempts', attemptsOf(job)],
    ['priority', job.priority === 0 ? null : String(job.priority)],
    ['key', job.idempotency_key],
    ['source', job.source_ref],
    ['target', job.target_ref],
    ['payload', job.payload_ref],
    ['carries', Object.keys(job.safe_payload).length === 0 ? null : JSON.stringify(job.safe_payload)],
    ['event', job.causation_event_id],
    ['result', job.result === null ? null : JSON.stringify(job.result)],
  ]
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== null)
  output.line(table(shown, (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
  if (job.last_error !== null) {
    // What has ended well since is history.
    const earlier = job.state === 'completed'
    output.line(
      `\n${earlier ? pc.dim(`An earlier attempt: ${visible(job.last_error)}`) : pc.red(visible(job.last_error))}`,
    )
  }
  printNext(output, nextOf(job, neglected))
}

function attemptsOf({ attempts, crashes, replays }: JobRecord): string {
  const more = [
    crashes > 0 && `its worker died ${crashes === 1 ? 'once' : `${crashes} times`}`,
    replays > 0 && `replayed ${replays === 1 ? 'once' : `${replays} times`}`,
  ].filter(Boolean)
  return [String(attempts), ...more].join(', ')
}

function nextOf({ job_id, state, correlation_id }: JobRecord, neglected: boolean) {
  const work = { what: 'Run a handler of yours for it', command: 'stagedoor worker --handlers ./jobs.ts' }
  const trace = { what: 'See what it came from and what came of it', command: `stagedoor trace ${job_id}` }
  const ending =
    state === 'dead'
      ? [{ what: 'When the reason is gone, run it again', command: `stagedoor job replay ${job_id}` }]
      : state === 'waiting' || state === 'running'
        ? [{ what: 'End it before its time', command: `stagedoor job cancel ${job_id}` }]
        : []
  return [...(neglected ? [work] : []), ...ending, ...(correlation_id === null ? [] : [trace])]
}
