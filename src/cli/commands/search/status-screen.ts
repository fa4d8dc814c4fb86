/** How search is, on the terminal. */
import pc from 'picocolors'
import type { SearchStatus } from '../../../search/status.ts'
import { type Output, table } from '../../output.ts'
import { duration } from '../../times.ts'
import { count } from '../upload/layout.ts'
import { printNext } from '../upload/next-step.ts'
import { printWarning } from './screen.ts'

const PHASES = [
  'units in a collection of their own',
  'units and the old knowledge base together, each thing once',
  'units divided where their text divides',
]

export function printStatus(output: Output, status: SearchStatus): void {
  const { outbox, chunks, gates } = status
  output.line(collectionTable(status))
  output.line()
  const facts = [
    [
      'in search',
      `${count(chunks.units)} chunks of units, ${count(chunks.documents)} of the old knowledge base`,
    ],
    ['waiting', waitingOf(status)],
    [
      'failed',
      outbox.dead_letter === 0 ? 'nothing' : `${count(outbox.dead_letter)}: \`stagedoor search dead\``,
    ],
    [
      'window',
      `${status.window.quiet_s} s of quiet after an edit, ${status.window.delete_s} s after a deletion`,
    ],
    ...PHASES.map((about, index) => [
      `phase ${index + 1}`,
      `${gates[`phase_${index + 1}` as 'phase_1'] ? 'open' : 'closed'}  ${about}`,
    ]),
    ...status.cost
      .slice(0, 7)
      .map((day) => [
        day.day,
        `${day.model}: ${count(day.tokens)} tokens in ${count(day.requests)} requests`,
      ]),
  ]
  output.line(table(facts, (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
  if (status.outage) printWarning(output, `${count(status.outage.rows)} wait for it: ${status.outage.reason}`)
  if (status.retrying)
    printWarning(
      output,
      `${count(status.retrying.rows)} failed and are tried again: ${status.retrying.reason}`,
    )
  for (const { collection, refused, state } of status.collections)
    if (refused > 0 && state === 'building')
      printWarning(
        output,
        `The embedder of ${collection} does not take ${count(refused)} chunks: few are passed over, with many it does not take over (\`stagedoor issue list\`, \`stagedoor search switch --cancel\`).`,
      )
  if (!gates.excluded)
    printWarning(
      output,
      'Nothing is brought into search: the gate iu_core.no_vector_staging_excluded is closed.',
    )
  printNext(output, nextOf(status))
}

function collectionTable({ collections, chunks }: SearchStatus): string {
  // The collection of an old knowledge base is of no interest where there is none.
  const shown = collections.filter(
    ({ state }) => state !== 'retired' && (state !== 'legacy' || chunks.documents > 0),
  )
  if (shown.length === 0) return 'No collection yet: the first text that comes into search makes one.'
  const rows = [
    ['collection', 'state', 'embedder', 'store', 'points'],
    ...shown.map((one) => [
      one.collection,
      one.state,
      [one.embedder, one.embedder === 'openai' ? one.model : null, one.dimension].filter(Boolean).join(' '),
      one.store,
      one.state === 'building'
        ? `${count(one.points)} of ${count(chunks.units)}`
        : one.state === 'legacy'
          ? ''
          : count(one.points),
    ]),
  ]
  return table(rows, (cell, column, row) => {
    if (row === 0) return pc.dim(cell)
    const state = cell.trim()
    if (column !== 1) return cell
    return state === 'active' ? pc.green(cell) : state === 'building' ? pc.yellow(cell) : pc.dim(cell)
  })
}

function waitingOf({ outbox, outage, retrying }: SearchStatus): string {
  const { pending, processing, due, oldest_due_s: oldest } = outbox
  if (pending + processing === 0) return 'nothing'
  const quiet = quietOf({ outbox, outage, retrying })
  return [
    ...(processing > 0 ? [`${count(processing)} in work`] : []),
    ...(due > 0 ? [`${count(due)} due${oldest ? `, the oldest for ${duration(oldest * 1000)}` : ''}`] : []),
    ...(outage ? [`${count(outage.rows)} for the embedder or the store`] : []),
    ...(retrying ? [`${count(retrying.rows)} for another try`] : []),
    ...(quiet > 0 ? [`${count(quiet)} until they have been quiet for a while`] : []),
  ].join(', ')
}

function quietOf({ outbox, outage, retrying }: Pick<SearchStatus, 'outbox' | 'outage' | 'retrying'>): number {
  return Math.max(0, outbox.pending - outbox.due - (outage?.rows ?? 0) - (retrying?.rows ?? 0))
}

function nextOf(status: SearchStatus) {
  const { outbox, collections } = status
  const steps = []
  // What is away does not come back for that.
  if (quietOf(status) + outbox.due > 0) steps.push({ what: 'Do not wait', command: 'stagedoor search now' })
  if (outbox.dead_letter > 0) steps.push({ what: 'See what failed', command: 'stagedoor search dead' })
  if (collections.some(({ state }) => state === 'active'))
    steps.push({ what: 'Compare what the store holds with Postgres', command: 'stagedoor search audit' })
  return steps
}
