/** `stagedoor status`: the way of the data at a glance, the same figures as the overview of the console. */
import pc from 'picocolors'
import { type Overview, type RoomFigures, readOverview, type Trouble } from '../app/overview.ts'
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
    value: ({ trouble }) => trouble.map(({ what, count }) => troubleText(what, count)).join(', '),
    paint: pc.red,
  },
]

const TROUBLE_TEXTS: Readonly<Record<Trouble, readonly [one: string, many?: string]>> = {
  changes_requested: ['change for which changes were requested', 'changes for which changes were requested'],
  invalid_uploads: ['upload with invalid lines', 'uploads with invalid lines'],
  failed_uploads: ['upload failed in 24 h', 'uploads failed in 24 h'],
  expiring_records: ['record expires in 24 h', 'records expire in 24 h'],
  stale_plans: ['stale plan'],
  failed_promotions: ['failed promotion'],
  deviating_units: ['unit deviates', 'units deviate'],
  drifted_units: ['unit drifted', 'units drifted'],
  failed_dispatches: ['event failed in 24 h', 'events failed in 24 h'],
  failing_routes: ['route failed in 24 h', 'routes failed in 24 h'],
  dry_routes: ['route in dry run', 'routes in dry run'],
  dead_letters: ['dead letter'],
  paused_kinds: ['kind is paused', 'kinds are paused'],
  failed_executions: ['execution failed in 24 h', 'executions failed in 24 h'],
  late_texts: ['text waits too long', 'texts wait too long'],
  failed_texts: ['text could not be indexed', 'texts could not be indexed'],
}

function troubleText(what: Trouble, count: number): string {
  const [one, many] = TROUBLE_TEXTS[what]
  return plural(count, one, many)
}

function figure(count: number, more: boolean): string {
  return count === 0 ? '–' : `${formatCount(count)}${more ? '+' : ''}`
}

function* remarks({ gates, open_issues }: Overview): Generator<string> {
  for (const { open, title, gate, when_closed } of gates)
    if (!open) yield pc.yellow(`Gate closed: ${title} (${gate}). ${when_closed}`)
  if (open_issues > 0) yield pc.yellow(`${plural(open_issues, 'open issue')}.`)
}
