/** The projection into search: its status, what failed, replay, audit; another embedder or store, phases and window. */

import { setTimeout as delay } from 'node:timers/promises'
import { InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import type { AuditReport, Finding } from '../search/audit.ts'
import { EMBEDDERS, STORES } from '../search/collections.ts'
import { isPretrained } from '../search/embedders/embedder.ts'
import type { Search } from '../search/library.ts'
import {
  countProjected,
  findRetries,
  flushOutbox,
  listDeadLetters,
  type RetriedRows,
  replayDeadLetters,
  type SearchStatus,
} from '../search/status.ts'
import type { RemainingWork } from '../search/worker.ts'
import { type Cut, cutScope } from '../units/cut.ts'
import { integerBetween } from './arguments.ts'
import { command } from './command.ts'
import { formatCount, formatDuration, formatRelativeTime, joinWords, plural } from './format.ts'
import { idsOf } from './ids.ts'
import { drainWithProgress, startProgressBar } from './progress.ts'
import { type Session, type SessionOptions, type Transaction, workspaceOf } from './session.ts'
import { type Fact, formatRecords, type Output, painter } from './terminal.ts'

const OF_ONE = 'of this one; default: the only one there is'

export interface SearchScope {
  readonly workspace: string
  /** One transaction as the member that --as names in this workspace, else as the back end. */
  readonly transaction: Transaction
  readonly pool: Pool
}

/** The workspace that is named, or the only one there is. With `call` a member's transaction is a decision. */
export async function openSearchScope(
  session: Session<SessionOptions & { readonly workspace?: string }>,
  call?: string,
): Promise<SearchScope> {
  const { options, isMember, backEnd, pool, decide, transaction } = session
  const workspace = await backEnd((client) => workspaceOf(client, options.workspace))
  return {
    workspace,
    pool: await pool(),
    transaction: (work) =>
      isMember && call !== undefined ? decide(work, { workspace, call }) : transaction(work, { workspace }),
  }
}

export const statusCommand = () =>
  command('status', 'collections, what waits, outages, phases and cost').run(async ({ output, library }) => {
    const status = await (await library()).search.status()
    output.result(status, () => printStatus(output, status))
  })

export const flushCommand = () =>
  command('flush', 'project what was edited now, without waiting two minutes after the last edit')
    .workspace(OF_ONE)
    .actor()
    .run(async (session) => {
      const { output } = session
      const { workspace, transaction, pool } = await openSearchScope(session)
      const began = performance.now()
      // Counted before anything is due: a running server may be faster than this process.
      const before = await countProjected(pool, workspace)
      await transaction((client) => flushOutbox(client, { workspace }))
      const { search } = await session.library()
      const left = await drainWithProgress(output, search, workspace)
      const projected = (await countProjected(pool, workspace)) - before
      const retrying = await findRetries(pool, workspace)
      if (retrying) process.exitCode = 7
      output.result({ projected, ...left, retrying }, () =>
        printProjected(output, projected, { ...left, retrying }, performance.now() - began),
      )
    })

export function printProjected(
  output: Output,
  projected: number,
  { waiting, closed, outage, retrying }: RemainingWork & { readonly retrying: RetriedRows | null },
  ms: number,
): void {
  if (projected > 0)
    output.done(`${plural(projected, 'text is', 'texts are')} in search, ${formatDuration(ms)}`)
  if (closed !== null) {
    output.caution(`${waiting} wait. ${closed}`)
    return
  }
  if (retrying)
    output.caution(
      `${retrying.rows} failed, ${retrying.rows === 1 ? 'is' : 'are'} found by words only and will be retried: ${retrying.reason}`,
    )
  if (outage !== null && waiting > 0) {
    output.caution(`${waiting} found by words only so far: ${outage}. It catches up by itself.`)
    output.next(['See the status', 'stagedoor search status'])
  } else if (projected === 0 && !retrying) output.line('Nothing was pending: search is up to date.')
}

export const deadLettersCommand = () =>
  command('dead-letters', 'what could not be projected after all attempts')
    .workspace(OF_ONE)
    .limit(50)
    .actor()
    .run(async (session) => {
      const { output, options } = session
      const { transaction, workspace } = await openSearchScope(session)
      const dead = await transaction((client) => listDeadLetters(client, { workspace, limit: options.limit }))
      output.list(
        dead,
        [
          { title: 'what', value: (one) => one.name },
          { title: 'attempts', value: (one) => one.tries },
          { title: 'failed', value: (one) => formatRelativeTime(one.failed_at) },
          { title: 'id', value: (one) => one.outbox_id, dim: true },
          { title: 'why', value: (one) => one.error, shrinkTo: 20 },
        ],
        'No dead letters. `stagedoor search status` shows what is pending.',
      )
      const [first] = dead
      output.next(
        first && ['When the cause is removed, replay one', `stagedoor search replay ${first.outbox_id}`],
        first && ['Or all of them', 'stagedoor search replay'],
      )
    })

export const replayCommand = () =>
  command('replay', 'put dead letters back, with all their attempts')
    .argument('[id...]', 'of dead letters; default: all', idsOf('outbox'))
    .workspace(OF_ONE)
    .actor()
    .run(async (session, ids) => {
      const { output } = session
      const call = `POST ${API_PREFIX}/search/dead-letters/replay`
      const { transaction, workspace } = await openSearchScope(session, call)
      const outbox = ids.length > 0 ? ids : undefined
      const replayed = await transaction((client) => replayDeadLetters(client, { workspace, outbox }))
      output.result(
        { replayed },
        replayed === 0
          ? () => output.line('There was nothing to replay.')
          : `${plural(replayed, 'text')} will be projected again`,
        replayed > 0 && ['Project now', 'stagedoor search flush'],
      )
    })

const PHASES = [
  'units in a collection of their own',
  'units and documents together, each thing once',
  'units divided where their text divides',
]

export function printStatus(output: Output, status: SearchStatus): void {
  const { outbox, chunks, gates, window, outage, retrying, collections, tables } = status
  output.line(collectionTable(status))
  output.line()
  const failed = outbox.dead_letter
  output.facts([
    [
      'in search',
      joinWords(
        [
          `${formatCount(chunks.units)} chunks of units`,
          `${formatCount(chunks.documents)} of documents`,
          tables.active > 0 && `${formatCount(chunks.rows)} of rows of ${plural(tables.active, 'table')}`,
        ],
        ', ',
      ),
    ],
    ['tables', tables.scanning > 0 && `${plural(tables.scanning, 'is', 'are')} being read`],
    ...(chunks.to_analyse > 0
      ? [
          [
            'analysis',
            `the words of ${formatCount(chunks.to_analyse)} chunks are being analysed again by this version`,
          ] as Fact,
        ]
      : []),
    ['pending', pendingText(status)],
    ['failed', failed === 0 ? 'nothing' : `${formatCount(failed)}: \`stagedoor search dead-letters\``],
    ['window', `${window.quiet_s} s after the last edit, ${window.delete_s} s after a deletion`],
    ...PHASES.map((about, index): Fact => {
      const isOpen = gates[`phase_${index + 1}` as 'phase_1']
      return [`phase ${index + 1}`, `${isOpen ? 'open' : 'closed'}  ${about}`]
    }),
    ...status.cost.slice(0, 7).map(({ day, model, tokens, requests }): Fact => {
      return [day, `${model}: ${formatCount(tokens)} tokens in ${formatCount(requests)} requests`]
    }),
  ])
  if (outage)
    output.caution(`${formatCount(outage.rows)} wait for the embedder or the store: ${outage.reason}`)
  if (retrying) output.caution(`${formatCount(retrying.rows)} failed and will be retried: ${retrying.reason}`)
  for (const { collection, refused, state } of collections)
    if (refused > 0 && state === 'building')
      output.caution(
        `The embedder of ${collection} rejects ${formatCount(refused)} chunks: a few are left out; with many the new collection does not become active (\`stagedoor issue list\`, \`stagedoor search switch --cancel\`).`,
      )
  for (const { table, reason } of tables.stopped) output.caution(`${table} is not searched: ${reason}`)
  if (!gates.excluded)
    output.caution('Nothing is projected into search: the gate iu_core.no_vector_staging_excluded is closed.')
  output.next(
    // What waits for an outage is not projected sooner by that.
    quietOf(status) + outbox.due + tables.changes > 0 && ['Project now', 'stagedoor search flush'],
    failed > 0 && ['See what failed', 'stagedoor search dead-letters'],
    collections.some(({ state }) => state === 'active') && [
      'Compare what the store holds with Postgres',
      'stagedoor search audit',
    ],
  )
}

function collectionTable({ collections, chunks }: SearchStatus): string {
  // The collection of an old knowledge base is of no interest where there is none.
  const shown = collections.filter(
    ({ state }) => state !== 'retired' && (state !== 'legacy' || chunks.documents > 0),
  )
  if (shown.length === 0) return 'No collection yet: the first text that is projected creates one.'
  return formatRecords(shown, [
    { title: 'collection', value: (one) => one.collection },
    { title: 'state', value: (one) => one.state, paint: paintState },
    {
      title: 'embedder',
      value: (one) =>
        joinWords(
          [one.embedder, one.model !== null && isPretrained(one.embedder) && one.model, one.dimension],
          ' ',
        ),
    },
    { title: 'store', value: (one) => one.store },
    {
      title: 'points',
      value: ({ state, points }) =>
        state === 'building'
          ? `${formatCount(points)} of ${formatCount(chunks.units)}`
          : state === 'legacy'
            ? ''
            : formatCount(points),
    },
  ])
}

const paintState = painter({ green: ['active'], yellow: ['building'] })

function pendingText(status: SearchStatus): string {
  const { outbox, outage, retrying } = status
  const { changes } = status.tables
  const { pending, processing, due, oldest_due_s: oldest } = outbox
  if (pending + processing + changes === 0) return 'nothing'
  const quiet = quietOf(status)
  return joinWords([
    processing > 0 && `${formatCount(processing)} in progress`,
    due > 0 && `${formatCount(due)} due${oldest ? `, the oldest for ${formatDuration(oldest * 1000)}` : ''}`,
    outage && `${formatCount(outage.rows)} for the embedder or the store`,
    retrying && `${formatCount(retrying.rows)} for a retry`,
    quiet > 0 && `${formatCount(quiet)} until some time after their last edit`,
    changes > 0 && `${plural(changes, 'changed row')} of tables`,
  ])
}

function quietOf({ outbox, outage, retrying }: SearchStatus): number {
  return Math.max(0, outbox.pending - outbox.due - (outage?.rows ?? 0) - (retrying?.rows ?? 0))
}

const MAX_FINDINGS = 20

const MEANING: Readonly<Record<Finding, string>> = {
  orphan: 'in the store, unknown to Postgres',
  ghost: 'recorded as in the store, and not there',
  payload: 'in the store, different from Postgres',
  staging: 'names staged data, which must never be there',
  missing: 'a unit, document or row whose current text is not in search',
  left: 'in search, though its unit, document or row was deleted',
}

export const auditCommand = () =>
  command('audit', 'compare what the vector stores really hold with Postgres')
    .option(
      '--repair',
      'delete what should not be there and project what is missing; never in the collection of documents',
    )
    .examples('Ends with 7 when something is wrong and was not repaired, or a store could not be reached.')
    .run(async ({ options, output, library }) => {
      output.note(pc.dim('Reading every point of every collection …'))
      const report = await (await library()).search.audit({ repair: options.repair === true })
      if (report.findings.some(({ repaired }) => !repaired) || report.collections.some(isUnreached))
        process.exitCode = 7
      output.result(report, () => printAudit(output, report))
    })

/** The old knowledge base is not ours, and most have none. */
function isUnreached({ points, state }: AuditReport['collections'][number]): boolean {
  return points === null && state !== 'legacy'
}

function printAudit(output: Output, { collections, findings }: AuditReport): void {
  output.records(collections, [
    { value: (one) => one.collection },
    { value: (one) => one.state, dim: true },
    { value: (one) => one.store, dim: true },
    { value: ({ points }) => (points === null ? 'not checked' : `${formatCount(points)} points`) },
  ])
  for (const { collection, state, problem } of collections) {
    if (problem === undefined) continue
    if (state === 'legacy') output.dim(`  ${collection}: ${problem}`)
    else output.caution(`${collection}: ${problem}`)
  }
  output.line()
  if (findings.length === 0 && collections.some(isUnreached))
    output.line(
      'Nothing wrong was found, but not every store could be reached: run it again when it is back.',
    )
  else if (findings.length === 0) output.done('The stores hold what Postgres says.')
  else printFindings(output, findings)
}

function printFindings(output: Output, findings: AuditReport['findings']): void {
  const shown = findings.slice(0, MAX_FINDINGS)
  output.records(shown, [
    { value: (one) => one.finding, paint: pc.yellow },
    { value: (one) => one.collection ?? 'postgres' },
    { value: (one) => one.id, dim: true },
    { value: (one) => one.detail, shrinkTo: 20 },
  ])
  if (findings.length > shown.length) output.dim(`… ${findings.length - shown.length} more: --json`)
  output.line()
  for (const kind of new Set(findings.map(({ finding }) => finding)))
    output.dim(`  ${kind}: ${MEANING[kind]}`)
  const repaired = findings.filter((one) => one.repaired).length
  const left = findings.length - repaired
  if (repaired > 0)
    output.done(`${formatCount(repaired)} repaired; what was missing is projected within a minute`)
  if (left > 0 && repaired > 0) output.line(`${formatCount(left)} belong to others and were not repaired.`)
  output.next(repaired === 0 && ['Repair them', 'stagedoor search audit --repair'])
}

/** Projects what a cut changed. */
export async function projectCut(
  { output, pool: openPool, library }: Session,
  cut: Cut,
): Promise<RemainingWork & { projected: number; retrying: RetriedRows | null; ms: number }> {
  const began = performance.now()
  const pool = await openPool()
  const { workspace, units } = await cutScope(pool, cut)
  const { search } = await library()
  const projected = units.length === 0 ? 0 : await search.flush({ units })
  const left = await drainWithProgress(output, search, workspace)
  const retrying = await findRetries(pool, workspace)
  return { ...left, projected, retrying, ms: Math.round(performance.now() - began) }
}

// Another embedder or store, and the settings of projection.

/** As many as the fitted embedder waits for before it begins by itself (maintenance.ts). */
const MIN_CHUNKS_TO_TRAIN = 200
const POLL_MS = 250
/** So long without a step, and somebody should look. */
const STUCK_MS = 30_000

export const switchCommand = () =>
  command(
    'switch',
    'embed everything again with another model or into another store, then swap; search goes on meanwhile',
  )
    .option('--embedder <name>', 'default: as now', EMBEDDERS)
    .option('--model <name>', 'of openai; default EMBEDDINGS_MODEL')
    .option('--dimension <n>', 'of openai; default EMBEDDINGS_DIMENSION', integerBetween(1, 4096))
    .option('--store <name>', 'default: as now', STORES)
    .option('--no-wait', 'begin only; a running `stagedoor start` fills and swaps')
    .option('--cancel', 'cancel the one that is being built')
    .examples(
      `  $ stagedoor search switch --embedder lsa                          learn again from what is there, no network
  $ EMBEDDINGS_URL=https://… stagedoor search switch --embedder openai
  $ EMBEDDINGS_FOLDER=models/all-MiniLM-L6-v2 stagedoor search switch --embedder onnx   in this process, no network
  $ stagedoor search switch --store qdrant

Until every text has its new vector, questions are answered by the old ones. A running \`stagedoor start\` needs the same\nEMBEDDINGS_… and QDRANT_… settings: it fills the new collection, keeps it up to date and asks it. Ends with 7 if it was not swapped.`,
    )
    .run(async ({ options, output, library }) => {
      const { search } = await library()
      if (options.cancel) {
        const collection = await search.cancelSwitch()
        return output.result({ cancelled: collection ?? null }, () => {
          if (collection === undefined) output.line('No collection is being built.')
          else output.done(`${collection} is cancelled; search was not affected.`)
        })
      }
      const began = performance.now()
      output.note(
        pc.dim(
          options.embedder === 'openai' || options.embedder === 'onnx'
            ? 'Asking the embedder …'
            : 'Getting ready …',
        ),
      )
      const { embedder, model, dimension, store } = options
      const made = await search.switchTo(omitUndefined({ embedder, model, dimension, store }))
      const isFilled = async () => options.wait && backfill(output, search, made.collection)
      const switched = made.state === 'active' || (await isFilled())
      if (options.wait && !switched) process.exitCode = 7
      const status = await search.status()
      const one = status.collections.find(({ collection }) => collection === made.collection)
      output.result({ collection: made.collection, switched }, () => {
        if (!switched) {
          output.line(`${pc.bold(made.collection)} is being built beside the active one.`)
          return output.next(['See its progress', 'stagedoor search status'])
        }
        output.done(
          `Search answers from ${pc.bold(made.collection)} (${one ? collectionText(one) : ''}), ${formatDuration(performance.now() - began)}`,
        )
        if (one?.embedder === 'lsa' && status.chunks.units < MIN_CHUNKS_TO_TRAIN)
          output.caution(
            `${formatCount(status.chunks.units)} chunks are too few to learn from: below ${MIN_CHUNKS_TO_TRAIN} words alone find better.`,
          )
      })
    })

function collectionText({ embedder, model, dimension, store }: SearchStatus['collections'][number]): string {
  const name = isPretrained(embedder) ? `${embedder} ${model}` : embedder
  return `${name}, ${dimension} numbers, in ${store}`
}

/** Here and now; whoever runs elsewhere helps. Answers whether it came to the swap. */
async function backfill(output: Output, search: Search, collection: string): Promise<boolean> {
  const worker = await search.work({ fitModels: false })
  const bar = startProgressBar(output, 'Embedding', 1)
  try {
    let most = -1
    let refused = 0
    for (let since = performance.now(); performance.now() - since < STUCK_MS; await delay(POLL_MS)) {
      const { collections, chunks } = await search.status()
      const one = collections.find((candidate) => candidate.collection === collection)
      if (one?.state === 'active') {
        if (refused > 0)
          output.caution(
            `${formatCount(refused)} chunks are rejected by its embedder: \`stagedoor search dead-letters\` will say why.`,
          )
        return true
      }
      if (one?.state !== 'building') return false
      refused = one.refused
      bar.update(one.points, chunks.units)
      if (one.points > most) {
        most = one.points
        since = performance.now()
      }
    }
    output.caution(
      `There was no progress for ${formatDuration(STUCK_MS)}. A running \`stagedoor start\` helps to fill it and needs the same settings (EMBEDDINGS_URL, QDRANT_URL …): restart it with them. \`stagedoor search switch --cancel\` cancels it.`,
    )
    return false
  } finally {
    bar.stop()
    await worker.stop()
  }
}

// The migration from the old knowledge base, in switches.

export const phaseCommand = () =>
  command('phase', 'open or close a phase of the migration from the old knowledge base, in order')
    .argument('<phase>', '1, 2 or 3', parsePhase)
    .argument('<state>', 'open or close', parseState)
    .option('--reason <text>', 'kept in the history of the gate')
    .examples(
      `  0  the mapping of documents to units, which only reads: it needs no switch
  1  units are projected into a collection of their own
  2  units and the old knowledge base are asked together, each thing once
  3  units are divided where their text divides, not every 4,000 characters

  $ stagedoor search phase 2 close --reason "the old search stays on its own for now"`,
    )
    .run(async ({ options, output, library }, phase, open) => {
      const changed = await (await library()).search.setPhase(phase, open, options.reason)
      output.result({ phase, open, changed }, () => {
        const state = open ? 'open' : 'closed'
        if (!changed) return output.line(`Phase ${phase} was ${state} already.`)
        output.done(`Phase ${phase} is ${state}`)
        if (phase === 3)
          output.dim(
            '  All units are chunked again: they are pending for about two minutes, or until `stagedoor search flush`.',
          )
      })
    })

function parsePhase(given: string): number {
  if (/^[123]$/.test(given)) return Number(given)
  throw new InvalidArgumentError(
    given === '0' ? 'Phase 0 only reads: it needs no switch.' : 'It is 1, 2 or 3.',
  )
}

/** True: open. */
function parseState(given: string): boolean {
  if (given === 'open' || given === 'close') return given === 'open'
  throw new InvalidArgumentError('Allowed choices are open, close.')
}

export const windowCommand = () =>
  command('window', 'how long the projection waits after the last edit, and after a deletion')
    .option('--quiet <seconds>', 'after an edit: 120 to 180', integerBetween(120, 180))
    .option('--delete <seconds>', 'before what was deleted is taken out: 30 to 60', integerBetween(30, 60))
    .option('--reason <text>', 'kept in the history')
    .examples('  $ stagedoor search window --quiet 180 --reason "many editors at once"')
    .run(async ({ options, output, library }) => {
      const { search } = await library()
      const { quiet: quiet_s, delete: delete_s, reason } = options
      const isNamed = (quiet_s ?? delete_s) !== undefined
      const changed = isNamed && (await search.setWindow({ quiet_s, delete_s, reason }))
      const { window } = await search.status()
      output.result({ changed, ...window }, () => {
        const text = `${window.quiet_s} seconds after the last edit, ${window.delete_s} after a deletion`
        if (changed) output.done(text)
        else output.line(text)
      })
    })
