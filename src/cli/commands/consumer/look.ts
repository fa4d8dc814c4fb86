import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import {
  type Consumer,
  consumerEvidence,
  findConsumer,
  listConsumers,
  listUndelivered,
} from '../../../events/consumers.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { paintStage, stageOf } from '../stages.ts'
import { printNext } from '../upload/next-step.ts'
import {
  consumerLines,
  consumerTable,
  evidenceLines,
  historyOf,
  nextSteps,
  reviewStep,
  undeliveredLines,
} from './screen.ts'

export async function requireConsumer(client: Client, id: string): Promise<Consumer> {
  const consumer = await findConsumer(client, id)
  if (!consumer) throw new StagedoorError('consumer_not_found', { consumer: id })
  return consumer
}

export function listCommand(): Command {
  return new Command('list')
    .description('all consumers and how far each is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const consumers = await acting(options, listConsumers)
      output.result(consumers, () => {
        if (consumers.length > 0) return output.line(consumerTable(consumers))
        output.line('No consumer yet. One makes jobs of events:')
        output.line(pc.cyan('  stagedoor consumer add tell_me --on staging.record_created --kind tell_me'))
      })
    })
}

const SHOWN_TROUBLES = 5

export function showCommand(): Command {
  return new Command('show')
    .description('one consumer: what it makes of which events, how far it is, what went wrong')
    .argument('<consumer>', 'as `stagedoor consumer list` shows it')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const { consumer, undelivered } = await acting(options, async (client) => ({
        consumer: await requireConsumer(client, id),
        undelivered: await listUndelivered(client, { consumer: id, limit: SHOWN_TROUBLES }),
      }))
      output.result({ ...consumer, undelivered }, () => {
        output.line(`${paintStage(stageOf(consumer.state))}  ${pc.bold(consumer.consumer_id)}`)
        for (const line of consumerLines(consumer, ...historyOf(consumer))) output.line(line)
        if (undelivered.length > 0) output.line(`\n${pc.bold('Not passed on')}, newest first`)
        for (const line of undeliveredLines(undelivered)) output.line(line)
        printNext(output, nextSteps(consumer))
      })
    })
}

export function evidenceCommand(): Command {
  return new Command('evidence')
    .description('the jobs that a consumer in dry run would have made, newest first')
    .argument('<consumer>', 'as `stagedoor consumer list` shows it')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { limit: number }>()
      const output = outputOf(options)
      const { consumer, evidence, external } = await acting(options, async (client, database) => ({
        consumer: await requireConsumer(client, id),
        evidence: await consumerEvidence(client, id, options.limit),
        external: database.kind === 'external',
      }))
      output.result({ evidence }, () => {
        if (evidence.length === 0) {
          output.line(
            consumer.state === 'disabled'
              ? `${id} has not run dry yet.`
              : `${id} runs dry and has seen no event yet. The dispatcher runs in \`stagedoor start\`.`,
          )
          return consumer.state === 'disabled' && printNext(output, nextSteps(consumer))
        }
        output.line(
          `${pc.bold(id)} would have made jobs of the kind ${consumer.job_kind} with these keys (it made none):`,
        )
        for (const line of evidenceLines(evidence)) output.line(line)
        printNext(
          output,
          consumer.state === 'dry_run'
            ? [reviewStep(consumer, evidence.length, external)]
            : nextSteps(consumer),
        )
      })
    })
}
