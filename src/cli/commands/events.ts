import { Command } from 'commander'
import pc from 'picocolors'
import { type GlobalOptions, outputOf, withStagedoor } from '../context.ts'
import { whole } from '../numbers.ts'
import { table } from '../output.ts'
import { namesIn } from './upload/session.ts'

export function eventsCommand(): Command {
  const events = new Command('events').description('the event outbox: what happened, newest first')
  events
    .command('list')
    .description('the latest events')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this event')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { limit: number; after?: string }>()
      const output = outputOf(options)
      const page = { limit: options.limit, ...(options.after !== undefined && { after: options.after }) }
      const { list, names } = await withStagedoor(options, async (stagedoor, database) => ({
        list: await stagedoor.events.list(page),
        names: await namesIn(database),
      }))
      output.result(list, () => {
        if (list.length === 0) {
          return output.line(
            'No events yet. Opening a gate makes one: stagedoor gate open iu_core.staging_writes_enabled',
          )
        }
        output.line(
          table(
            [
              // What may be long comes last: there a table wraps it.
              ['when', 'what', 'who', 'id', 'about'],
              ...list.map((event) => [
                event.created_at.toISOString(),
                `${event.event_domain}.${event.event_type}`,
                names(event.actor),
                event.id,
                event.event_subject_ref ?? '',
              ]),
            ],
            (cell, column, line) =>
              line === 0 || column === 3 ? pc.dim(cell) : column === 1 ? pc.bold(cell) : cell,
          ),
        )
      })
    })
  return events
}
