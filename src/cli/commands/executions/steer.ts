/** Cancelling, pausing, resuming, running again from a step. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import {
  cancelExecution,
  pauseExecution,
  rerunExecution,
  resumeExecution,
} from '../../../executions/steering.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { printNext } from '../upload/next-step.ts'
import { executionId } from './execution-id.ts'

export function cancelCommand(): Command {
  return steering('cancel', 'end an execution before its time; nobody waits for what runs', {
    outcome: 'cancelled',
    said: 'It is told to end. What is outstanding is dropped, and what it started ends, too.',
    work: (client, id, reason) => cancelExecution(client, id, reason),
  }).option('--reason <text>', 'kept in its log')
}

export function pauseCommand(): Command {
  return steering('pause', 'let what runs end, and begin nothing new', {
    outcome: 'paused',
    said: 'It is told to pause. What runs ends and is kept; nothing new begins.',
    work: pauseExecution,
  })
}

export function resumeCommand(): Command {
  return steering('resume', 'go on with an execution that is paused', {
    outcome: 'resumed',
    said: 'It goes on.',
    work: resumeExecution,
  })
}

interface Steering {
  readonly outcome: string
  readonly said: string
  work(client: Client, id: string, reason?: string): Promise<void>
}

function steering(name: string, description: string, { outcome, said, work }: Steering): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'of the execution', executionId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason?: string }>()
      const output = outputOf(options)
      await acting(options, (client) => work(client, id, options.reason))
      output.result({ execution_id: id, outcome }, () => {
        output.line(`${pc.green('✔')} ${said}`)
        printNext(output, [{ what: 'See where it stands', command: `stagedoor executions show ${id}` }])
      })
    })
}

export function rerunCommand(): Command {
  return new Command('rerun')
    .description('a new execution that begins at a step of an old one, with what came before it there')
    .argument('<id>', 'of the old one', executionId)
    .requiredOption('--from <step>', 'that the old one came to')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      '\nIt takes the version of the playbook and the arguments of the old one. The old one stays as it is.',
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { from: string }>()
      const output = outputOf(options)
      const execution_id = await acting(options, (client) => rerunExecution(client, id, options.from))
      output.result({ execution_id, rerun_of: id, from_step: options.from }, () => {
        output.line(`${pc.green('✔')} ${pc.dim(execution_id)} begins at ${pc.bold(options.from)}`)
        printNext(output, [{ what: 'Watch it', command: `stagedoor executions wait ${execution_id}` }])
      })
    })
}
