/** The steps of a consumer: run dry, be reviewed by somebody else, be active, be off, be gone. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import {
  activateConsumer,
  backfillConsumer,
  type Consumer,
  disableConsumer,
  dryRunConsumer,
  removeConsumer,
  reviewConsumer,
} from '../../../events/consumers.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { type GlobalOptions, outputOf, withAdministrator } from '../../context.ts'
import { administering, deciding } from '../../governing.ts'
import { whole } from '../../numbers.ts'
import { pastTime } from '../../times.ts'
import { printNext } from '../upload/next-step.ts'
import { requireConsumer } from './look.ts'
import { nextSteps } from './screen.ts'

const ID = 'as `stagedoor consumer list` shows it'

export function dryRunCommand(): Command {
  return step('dry-run', 'note the jobs that it would make; it makes none', dryRunConsumer, 'runs dry')
}

export function activateCommand(): Command {
  return step(
    'activate',
    'let a reviewed consumer make jobs of what happens from now on',
    activateConsumer,
    'is active',
  )
}

export function disableCommand(): Command {
  return step('disable', 'make no more jobs; its review stays', disableConsumer, 'makes no more jobs')
}

function step(
  name: string,
  description: string,
  change: (client: Client, id: string) => Promise<Consumer>,
  done: string,
): Command {
  return new Command(name)
    .description(description)
    .argument('<consumer>', ID)
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const consumer = await administering(options, (client) => change(client, id))
      output.result(consumer, () => {
        output.line(`${pc.green('✔')} ${id} ${done}.`)
        printNext(output, nextSteps(consumer))
      })
    })
}

export function reviewCommand(): Command {
  return new Command('review')
    .description('say that you have looked at the evidence and agree; not the one who registered it')
    .argument('<consumer>', ID)
    .requiredOption('--seen <n>', 'how many lines you looked at, as `consumer evidence` says', whole(1, 1000))
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { seen: number }>()
      const output = outputOf(options)
      const decision = {
        workspace: async (client: Client) => (await requireConsumer(client, id)).workspace_id,
        call: `POST /api/consumers/${id}/review`,
      }
      const consumer = await deciding(options, decision, (client, actor) =>
        reviewConsumer(client, id, { evidence: options.seen, ...(actor !== undefined && { actor }) }),
      )
      output.result(consumer, () => {
        output.line(`${pc.green('✔')} ${id} is reviewed.`)
        printNext(output, nextSteps(consumer))
      })
    })
}

export function removeCommand(): Command {
  return new Command('remove')
    .description('take a consumer away; jobs that it made stay')
    .argument('<consumer>', ID)
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      await administering(options, (client) => removeConsumer(client, id))
      output.result({ consumer_id: id, removed: true }, () => output.line(`${pc.green('✔')} ${id} is gone.`))
    })
}

interface BackfillOptions extends GlobalOptions {
  readonly from: Date
  readonly to?: Date
}

export function backfillCommand(): Command {
  return new Command('backfill')
    .description('make jobs of events of the past, too; those that it had already make none')
    .argument('<consumer>', ID)
    .requiredOption('--from <time>', '2h or 7d ago, or 2026-11-01T00:00:00Z', pastTime)
    .option('--to <time>', 'default: now', pastTime)
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<BackfillOptions>()
      const output = outputOf(options)
      // No transaction around it: each page is committed by itself.
      const done = await withAdministrator(options, (client) =>
        backfillConsumer(client, id, { from: options.from, to: options.to ?? new Date() }),
      )
      output.result(done, () => {
        output.line(
          `${pc.green('✔')} ${done.events} events of the past: ${done.jobs} jobs, ${done.duplicates} it had already.`,
        )
        if (done.failures > 0) {
          output.line(pc.red(`  ${done.failures} could not be passed on: stagedoor consumer show ${id}`))
        }
        if (done.deferred > 0)
          output.line(
            pc.dim(`  ${done.deferred} are tried again: open transactions hold the keys of their jobs.`),
          )
      })
    })
}
