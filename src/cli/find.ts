/** `stagedoor find`: anything by its name or id. */
import pc from 'picocolors'
import { find } from '../app/find.ts'
import { command } from './command.ts'

export const findCommand = () =>
  command(
    'find',
    'anything by a part of its name, or by its id: uploads, records, units, jobs, executions, …',
  )
    .argument('<text>', 'a part of the name, or the whole id')
    .actor()
    .examples('  $ stagedoor find week-46', '  $ stagedoor find 01a1eb05-a1e3-7b3f-8911-55f4166f731b --json')
    .run(async ({ output, transaction }, text) => {
      const found = await transaction((client) => find(client, text))
      output.list(
        found,
        [
          { title: 'what', value: ({ kind }) => kind },
          { title: 'name', value: ({ title }) => title, paint: pc.bold },
          { title: 'about', value: ({ detail }) => detail },
          { title: 'id', value: ({ id }) => id, dim: true },
        ],
        'Nothing has this name or id. Names are looked for among the newest 10,000 of a kind.',
      )
    })
