/** Cancelling, pausing, resuming. */
import { Command } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { requireExecution } from '../../../executions/shown-executions.ts'
import { cancelExecution, pauseExecution, resumeExecution } from '../../../executions/steering.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { executionId } from '../../ids.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'

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
    next: (id) => ({ what: 'Go on with it later', command: `stagedoor executions resume ${id}` }),
    async work(client, id) {
      const { status } = await requireExecution(client, id)
      await pauseExecution(client, id)
      return status === 'PAUSED' ? 'It is paused already.' : undefined
    },
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
  readonly next?: (id: string) => NextStep
  /** A text is what is to be said instead. */
  work(client: Client, id: string, reason?: string): Promise<unknown>
}

function steering(name: string, description: string, { outcome, said, next, work }: Steering): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'of the execution', executionId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason?: string }>()
      const output = outputOf(options)
      const instead = await acting(options, (client) => work(client, id, options.reason))
      output.result({ execution_id: id, outcome }, () => {
        output.line(`${pc.green('✔')} ${typeof instead === 'string' ? instead : said}`)
        printNext(output, [
          { what: 'See where it stands', command: `stagedoor executions show ${id}` },
          ...(next ? [next(id)] : []),
        ])
      })
    })
}
