/** Enqueueing, cancelling, replaying. */
import { Command, Option } from 'commander'
import pc from 'picocolors'
import { EXECUTORS } from '../../../jobs/executors.ts'
import type { NewJob } from '../../../jobs/job.ts'
import { cancelJob, enqueue, findJob, jobOfKey, replayJobs } from '../../../jobs/queue.ts'
import { type ActingOptions, acting, asOption, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { idsOf } from '../../ids.ts'
import { jsonObject } from '../../json-argument.ts'
import { whole } from '../../numbers.ts'
import { pastTime, timeToCome, whenIs } from '../../times.ts'
import { printNext } from '../upload/next-step.ts'
import { jobId } from './look.ts'
import { runStep } from './screen.ts'

interface EnqueueOptions extends ActingOptions {
  readonly key?: string
  readonly payload?: Record<string, unknown>
  readonly priority: number
  readonly at?: Date
  readonly executor?: string
  readonly sourceRef?: string
  readonly targetRef?: string
  readonly payloadRef?: string
  readonly workspace?: string
}

export function enqueueCommand(): Command {
  return new Command('enqueue')
    .description('put a job into the queue')
    .argument('<kind>', 'lowercase letters, digits and _.:-')
    .option('--key <text>', 'the same kind and key again is the same job')
    .option('--payload <json>', 'references that its handler needs', jsonObject)
    .option('--priority <n>', 'higher first', whole(-32_767, 32_767), 0)
    .option('--at <time>', 'not before: 5m, 2h, or 2026-11-16T08:00:00Z', timeToCome)
    .addOption(new Option('--executor <name>', 'who runs it').choices(EXECUTORS).default('PG_worker'))
    .option('--source-ref <text>', 'what it comes from')
    .option('--target-ref <text>', 'what it is about')
    .option('--payload-ref <text>', 'where its data is')
    .option('--workspace <id or name>', 'whose members may see it')
    .action(async (kind: string, _options, command: Command) => {
      const options = command.optsWithGlobals<EnqueueOptions>()
      const output = outputOf(options)
      const { id, known } = await acting(options, async (client) => {
        const workspace =
          options.workspace === undefined ? undefined : await workspaceOf(client, options.workspace)
        const before = options.key === undefined ? undefined : await jobOfKey(client, kind, options.key)
        const id = await enqueue(client, newJob(kind, options, workspace))
        return { id, known: before === id ? await findJob(client, id) : undefined }
      })
      output.result({ job_id: id, created: known === undefined }, () => {
        if (known) {
          output.line(
            `${pc.yellow('●')} ${kind} ${pc.dim(id)} had this key already: it is ${known.state}. Nothing was added.`,
          )
          return printNext(output, [{ what: 'See how it went', command: `stagedoor job show ${id}` }])
        }
        output.line(
          `${pc.green('✔')} ${kind} ${pc.dim(id)}${options.at ? `, due ${whenIs(options.at)}` : ''}`,
        )
        printNext(output, [
          { what: 'See how it goes', command: `stagedoor job show ${id}` },
          ...runStep(kind, options.executor),
        ])
      })
    })
}

function newJob(kind: string, options: EnqueueOptions, workspace: string | undefined): NewJob {
  return {
    job_kind: kind,
    priority: options.priority,
    ...(options.key !== undefined && { idempotency_key: options.key }),
    ...(options.payload && { safe_payload: options.payload }),
    ...(options.at && { process_after: options.at }),
    ...(options.executor !== undefined && { executor: options.executor }),
    ...(options.sourceRef !== undefined && { source_ref: options.sourceRef }),
    ...(options.targetRef !== undefined && { target_ref: options.targetRef }),
    ...(options.payloadRef !== undefined && { payload_ref: options.payloadRef }),
    ...(workspace !== undefined && { workspace_id: workspace }),
  }
}

export function cancelCommand(): Command {
  return new Command('cancel')
    .description('end a job before its time')
    .argument('<id>', 'of the job', jobId)
    .option('--reason <text>', 'kept with it')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason?: string }>()
      const output = outputOf(options)
      const outcome = await acting(options, (client) => cancelJob(client, id, options.reason))
      output.result({ job_id: id, outcome }, () =>
        output.line(
          outcome === 'cancelled'
            ? `${pc.green('✔')} Cancelled; it will not run.`
            : `${pc.yellow('●')} It runs just now. Its worker is told; if it ends well before that, it has ended well.`,
        ),
      )
    })
}

interface ReplayOptions extends ActingOptions {
  readonly kind?: string
  readonly diedBefore?: Date
  readonly workspace?: string
  readonly limit: number
}

export function replayCommand(): Command {
  return new Command('replay')
    .description('dead letters back into the queue, with all attempts before them')
    .argument('[id...]', 'of dead letters', idsOf('job'))
    .option('--kind <kind>', 'all of this kind')
    .option('--died-before <time>', 'all that died before then: 1h ago, or 2026-11-16T08:00:00Z', pastTime)
    .option('--workspace <id or name>', 'only of this one; needed with --as')
    .option('--limit <n>', 'how many at most, oldest first', whole(1, 100_000), 1000)
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText('after', '\n  $ stagedoor job dead\n  $ stagedoor job replay --kind send_report')
    .action(async (ids: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<ReplayOptions>()
      const output = outputOf(options)
      const scope = options.workspace === undefined ? {} : { workspace: options.workspace }
      const replayed = await acting(
        options,
        async (client) =>
          replayJobs(client, {
            limit: options.limit,
            ...(ids.length > 0 && { jobs: ids }),
            ...(options.kind !== undefined && { job_kind: options.kind }),
            ...(options.diedBefore && { died_before: options.diedBefore }),
            ...(options.workspace !== undefined && {
              workspace_id: await workspaceOf(client, options.workspace),
            }),
          }),
        scope,
      )
      output.result({ jobs: replayed }, () => {
        if (replayed.length === 0)
          return output.line('No dead letter is so. `stagedoor job dead` shows them.')
        output.line(
          `${pc.green('✔')} ${replayed.length === 1 ? 'One job is' : `${replayed.length} jobs are`} in the queue again.`,
        )
        if (replayed.length === 1) {
          printNext(output, [{ what: 'See how it goes', command: `stagedoor job show ${replayed[0]}` }])
        }
      })
    })
}
