/** `stagedoor topic`: the words that units may carry as topics. */
import pc from 'picocolors'
import { createTopic, listTopics, retireTopic, type Topic } from '../units/edges.ts'
import { command, commandGroup } from './command.ts'
import { joinWords } from './format.ts'
import { idOf } from './ids.ts'
import { workspaceIfNamed, workspaceOf } from './session.ts'
import { type Column, nextPage } from './terminal.ts'

export const topicCommand = () =>
  commandGroup('topic', 'the words that units may carry as topics', [
    command('list', 'topics of a workspace and those of all')
      .workspace('only of this one')
      .limit(200)
      .option('--after <topic id>', 'the page after this one', idOf('topic'))
      .actor()
      .run(async ({ options: { workspace, limit, after }, output, transaction }) => {
        const topics = await transaction(async (client) =>
          listTopics(client, await workspaceIfNamed(client, workspace), { limit, after }),
        )
        const none = `No topic yet: units can carry none until there are some.\n${pc.cyan('  stagedoor topic create leave --description "Being away" --as admin')}`
        output.list(
          topics,
          COLUMNS,
          after === undefined ? none : 'No topic is left.',
          nextPage(topics, limit, ({ topic_id }) => topic_id),
        )
      }),
    topicVerb('create', 'create a topic, or bring a retired one back')
      .option('--description <text>', 'what it is about')
      .run(async ({ options: { workspace, everywhere, description }, output, transaction }, label) => {
        await transaction(async (client) =>
          createTopic(client, everywhere ? null : await workspaceOf(client, workspace), label, description),
        )
        output.result({ topic_label: label }, `${pc.bold(label)} may be carried by units`)
      }),
    topicVerb('retire', 'units that carry it keep it, no other gets it').run(
      async ({ options: { workspace, everywhere }, output, transaction }, label) => {
        await transaction(async (client) =>
          retireTopic(client, everywhere ? null : await workspaceOf(client, workspace), label),
        )
        output.result({ topic_label: label }, `${pc.bold(label)} is retired`)
      },
    ),
  ])

const dimRetired = (cell: string, { retired_at }: Topic) => (retired_at ? pc.dim(cell) : cell)

const COLUMNS: Column<Topic>[] = [
  { title: 'topic', value: ({ topic_label }) => topic_label, paint: dimRetired },
  { title: 'units', value: ({ units }) => units, paint: dimRetired },
  {
    title: 'where',
    value: ({ workspace_id }) => (workspace_id === null ? 'everywhere' : 'workspace'),
    dim: true,
  },
  {
    title: '',
    value: ({ retired_at, description }) => joinWords([retired_at && 'retired', description], ' · '),
    dim: true,
    shrinkTo: 20,
  },
]

const topicVerb = (name: string, description: string) =>
  command(name, description)
    .argument('<topic>', 'lowercase letters, digits and _.-')
    .workspace('whose; default: the only one there is')
    .option('--everywhere', 'of every workspace: for the back end')
    .actor()
