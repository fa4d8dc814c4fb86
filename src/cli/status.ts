/** `stagedoor status`: the way of the data at a glance, the same figures as the overview of the console. */
import pc from 'picocolors'
import { type Overview, type RoomFigures, readOverview } from '../app/overview.ts'
import { command } from './command.ts'
import { formatAge, formatCount, plural } from './format.ts'
import type { Column } from './terminal.ts'

export const statusCommand = () =>
  command('status', 'at a glance: what waits, what runs, what failed, and since when, room by room')
    .actor()
    .examples('  $ stagedoor status', '  $ stagedoor status --json')
    .run(async ({ output, transaction }) => {
      const overview = await transaction(readOverview)
      output.result(
        overview,
        () => {
          output.records(overview.rooms, COLUMNS)
          for (const line of remarks(overview)) output.line(line)
        },
        ['What waits for a review', 'stagedoor change list --waiting'],
        ['What needs a person', 'stagedoor issue list'],
      )
    })

const COLUMNS: Column<RoomFigures>[] = [
  { title: 'room', value: ({ room }) => room, paint: pc.bold },
  { title: 'waiting', value: ({ waiting, more }) => figure(waiting, more) },
  { title: 'running', value: ({ running, more }) => figure(running, more) },
  {
    title: 'rate',
    value: ({ rate }) =>
      rate === null ? '' : `${formatCount(rate.count)} in ${rate.window_s === 3600 ? '1 h' : '24 h'}`,
  },
  {
    title: 'oldest',
    value: ({ oldest }) => (oldest === null ? '' : `${formatAge(oldest.at)}: ${oldest.name}`),
  },
  {
    title: 'trouble',
    value: ({ trouble }) => trouble.map(({ count, words }) => `${formatCount(count)} ${words}`).join(', '),
    paint: pc.red,
  },
]

function figure(count: number, more: boolean): string {
  return count === 0 ? '–' : `${formatCount(count)}${more ? '+' : ''}`
}

function* remarks({ gates, open_issues }: Overview): Generator<string> {
  for (const { open, title, gate, when_closed } of gates)
    if (!open) yield pc.yellow(`Gate closed: ${title} (${gate}). ${when_closed}`)
  if (open_issues > 0) yield pc.yellow(`${plural(open_issues, 'open issue')}.`)
}
