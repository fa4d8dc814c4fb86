/** The topic vocabulary on the command line. */

import { Command } from 'commander'
import pc from 'picocolors'
import { addTopic, listTopics, retireTopic, type Topic } from '../../units/topics.ts'
import { type ActingOptions, acting, asOption, userOption, workspaceOf } from '../acting.ts'
import { outputOf } from '../context.ts'
import { idOf } from '../ids.ts'
import { whole } from '../numbers.ts'
import { table } from '../output.ts'
import { fitted } from './unit/screen.ts'

interface TopicOptions extends ActingOptions {
  readonly workspace?: string
  readonly everywhere?: boolean
}

interface ListOptions extends TopicOptions {
  readonly limit: number
  readonly after?: string
}

export function topicCommand(): Command {
  const topic = new Command('topic').description('the words that units may carry as topics')
  for (const command of [listCommand(), addCommand(), retireCommand()]) topic.addCommand(command)
  return topic
}

function listCommand(): Command {
  return new Command('list')
    .description('topics of a workspace and those of all')
    .option('--workspace <id or name>', 'only of this one')
    .option('--limit <n>', 'how many', whole(1, 1000), 200)
    .option('--after <topic id>', 'the page after this one', idOf('topic'))
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const { limit, after } = options
      const output = outputOf(options)
      const topics = await acting(
        options,
        async (client) =>
          listTopics(
            client,
            options.workspace === undefined ? undefined : await workspaceOf(client, options.workspace),
            { limit, ...(after !== undefined && { after }) },
          ),
        options.workspace === undefined ? {} : { workspace: options.workspace },
      )
      output.result(topics, () => {
        if (topics.length > 0) output.line(topicTable(topics))
        if (topics.length === limit)
          output.line(pc.dim(`\nThe page after it: --after ${topics.at(-1)!.topic_id}`))
        if (topics.length > 0) return
        if (after !== undefined) return output.line('No topic is left.')
        output.line('No topic yet: units can carry none until there are some.')
        output.line(pc.cyan('  stagedoor topic add leave --description "Being away" --as admin'))
      })
    })
}

function topicTable(topics: readonly Topic[]): string {
  const rows = fitted([
    ['topic', 'units', 'where', ''],
    ...topics.map((topic) => [
      topic.topic_label,
      String(topic.units),
      topic.workspace_id === null ? 'everywhere' : 'workspace',
      [topic.retired_at && 'retired', topic.description].filter(Boolean).join(' · '),
    ]),
  ])
  return table(rows, (cell, column, row) =>
    row === 0 || column > 1 || (row > 0 && topics[row - 1]!.retired_at) ? pc.dim(cell) : cell,
  )
}

function addCommand(): Command {
  return changing('add', 'add a topic, or bring a retired one back')
    .option('--description <text>', 'what it is about')
    .action(async (label: string, _options, command: Command) => {
      const options = command.optsWithGlobals<TopicOptions & { description?: string }>()
      await change(options, label, 'may be carried by units', (client, workspace) =>
        addTopic(client, workspace, label, options.description),
      )
    })
}

function retireCommand(): Command {
  return changing('retire', 'units that carry it keep it, no other gets it').action(
    async (label: string, _options, command: Command) => {
      await change(command.optsWithGlobals<TopicOptions>(), label, 'is retired', (client, workspace) =>
        retireTopic(client, workspace, label),
      )
    },
  )
}

function changing(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<topic>', 'lowercase letters, digits and _.-')
    .option('--workspace <id or name>', 'whose; default: the only one there is')
    .option('--everywhere', 'of every workspace: for the back end')
    .addOption(asOption())
    .addOption(userOption())
}

async function change(
  options: TopicOptions,
  label: string,
  says: string,
  work: (client: Parameters<typeof addTopic>[0], workspace: string | null) => Promise<void>,
): Promise<void> {
  const output = outputOf(options)
  await acting(
    options,
    async (client) => work(client, options.everywhere ? null : await workspaceOf(client, options.workspace)),
    options.workspace === undefined ? {} : { workspace: options.workspace },
  )
  output.result({ topic_label: label }, () => output.line(`${pc.green('✔')} ${pc.bold(label)} ${says}`))
}
