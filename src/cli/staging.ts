/** `stagedoor staging`: records that are held, reviewed, approved and consumed, and their retention. */
import pc from 'picocolors'
import { findStandingOf } from '../changes/reviews.ts'
import { listEventsAbout } from '../events/outbox.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { requireIntactBlobs, withBlobHealth } from '../staging/blobs.ts'
import {
  approveRecord,
  type ChecklistItem,
  cleanRecords,
  consumeRecord,
  expireRecords,
  type KindPolicy,
  LIFECYCLE,
  listPolicies,
  listRecords,
  type Part,
  readChecklist,
  readPart,
  rejectRecord,
  requireRecord,
  STAGING_KINDS,
  type StagingRecord,
  setPolicy,
  stagingHealth,
  tickItem,
  withdrawRecord,
} from '../staging/records.ts'
import { argumentInvalid, integerBetween, MIN_DIGEST_LENGTH, parseDigest } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { eventColumns } from './event.ts'
import { approversText, formatAge, formatBytes, joinWords, plural, shellWord } from './format.ts'
import { recordId } from './ids.ts'
import { approveRecordCommand, type MemberNames, type Session } from './session.ts'
import { blobsOf, createCommand, printBlob } from './staging-create.ts'
import { type Column, canAsk, confirm, type NextStep, nextPage, type Output, painter } from './terminal.ts'
import { firstLines, printable, printableLine, textWidth, truncate, windowWidth } from './text.ts'

export const stagingCommand = () =>
  commandGroup(
    'staging',
    'the staging zone: hold anything, approve exactly what was seen',
    [
      createCommand(),
      listCommand(),
      showCommand(),
      historyCommand(),
      tickCommand(),
      approveCommand(),
      rejectCommand(),
      withdrawCommand(),
      consumeCommand(),
      expireCommand(),
      cleanupCommand(),
      healthCommand(),
      policyCommand(),
    ],
    `
  $ stagedoor staging create --as agent --kind review_package --type review_bundle --purpose "Commentary on week 45" \\
      --part manifest=@manifest.json --part commentary=@notes.md --part checklist=@checklist.json
  $ stagedoor staging list --status pending
  $ stagedoor staging show <id>
  $ stagedoor staging tick --as reviewer <id> 1 2
  $ stagedoor staging approve --as reviewer <id> --digest <as shown>
  $ stagedoor staging consume <id>

Nothing is written while the gate iu_core.staging_writes_enabled is closed.`,
  )

/** A command about one record. */
const recordVerb = (name: string, description: string) =>
  command(name, description).argument('<id>', 'of the record', recordId).actor().about('record')

const listCommand = () =>
  command('list', 'records, newest first')
    .option('--status <status>', 'only these', LIFECYCLE)
    .option('--kind <kind>', 'only these', STAGING_KINDS)
    .option('--owner <actor>', 'only these')
    .option('--workspace <id>', 'only these')
    .limit()
    .option('--after <id>', 'the page after this record')
    .actor()
    .run(async ({ options, output, transaction, memberNames }) => {
      const records = await transaction((client) => listRecords(client, options))
      output.list(
        records,
        recordColumns(await memberNames()),
        'Nothing is staged here. `stagedoor staging create --help` shows how to hold something.',
      )
    })

const paintStatus = painter({ yellow: ['pending'], green: ['approved', 'consumed'], red: ['rejected'] })

/** What people read: nobody rejected what was withdrawn, and nothing can come of its approval. */
const statusOf = ({ withdrawn, lifecycle_status }: StagingRecord) =>
  withdrawn === null ? lifecycle_status : 'withdrawn'

function recordColumns(names: MemberNames): Column<StagingRecord>[] {
  return [
    { title: 'id', value: ({ staging_record_id }) => staging_record_id },
    { title: 'status', value: statusOf, paint: paintStatus },
    { title: 'kind', value: ({ staging_kind }) => staging_kind },
    { title: 'purpose', value: ({ purpose }) => truncate(purpose, 50) },
    { title: 'owner', value: ({ owner_actor }) => truncate(names(owner_actor), 36) },
    { title: 'age', value: ({ created_at }) => formatAge(created_at) },
  ]
}

const historyCommand = () =>
  recordVerb('history', 'what happened to a record, oldest first')
    .limit(100)
    .option('--after <id>', 'the page after this event')
    .run(async ({ options, output, transaction, memberNames }, id) => {
      const { limit, after } = options
      const events = await transaction(async (client) => {
        const { staging_record_id: subject } = await requireRecord(client, id)
        return listEventsAbout(client, { domain: 'staging', subject, limit, ...(after && { after }) })
      })
      output.list(
        events,
        eventColumns(await memberNames()),
        'No event about it is left: they go after their retention.',
        nextPage(events, limit, (event) => event.id),
      )
    })

const showCommand = () =>
  recordVerb('show', 'a record with its parts, readably')
    .option('--part <n>', 'print this part alone, exactly as it is held', integerBetween(0, 99))
    .option('--full', 'do not shorten long parts')
    .run(async ({ options, output, transaction, memberNames, isExternal }, id) => {
      const { part: index } = options
      const found = await transaction((client) => loadRecord(client, id, index))
      if (index !== undefined) {
        const [part] = found.parts
        if (!part) throw new StagedoorError('not_found', { what: `part ${index} of record ${id}` })
        if (part.content === null) return printBlob(blobsOf(options), id, part)
        return void process.stdout.write(part.content)
      }
      const names = await memberNames()
      const show = () => printRecord(output, found, names, options.full)
      output.result(found, show, ...nextSteps(found, await isExternal()))
    })

interface RecordWithParts {
  readonly record: StagingRecord
  readonly parts: readonly Part[]
  readonly checklist: readonly ChecklistItem[]
}

/** A record with all of its parts for people to read, or with one of them as it is held. */
async function loadRecord(client: Client, id: string, only?: number): Promise<RecordWithParts> {
  const record = await requireRecord(client, id)
  const indexes = only === undefined ? record.part_digests.map((part) => part.part_index) : [only]
  const parts: Part[] = []
  for (const index of indexes) {
    const part = await readPart(client, id, index, { pretty: only === undefined })
    if (part) parts.push(part)
  }
  return { record, parts, checklist: await readChecklist(client, id) }
}

function nextSteps({ record, checklist }: RecordWithParts, external: boolean): NextStep[] {
  if (record.lifecycle_status !== 'pending' || !record.approval_required) return []
  const approve = approveRecordCommand(record, external)
  const open = openItems(checklist)
  if (open.length === 0) return [['Approve exactly this', approve]]
  const { staging_record_id: id } = record
  const call = `POST ${API_PREFIX}/staging/${id}/tick with the reviewer’s token`
  return [
    ['Tick what you have reviewed', external ? call : tickItemsCommand(id, open)],
    ['Then approve exactly this', approve],
  ]
}

function printRecord(
  output: Output,
  { record: r, parts, checklist }: RecordWithParts,
  names: MemberNames,
  full = false,
): void {
  const via = r.owner_via ? ` (by ${r.owner_via})` : ''
  const at = (time: Date | null, text: string) => time && text.replace('{at}', `at ${time.toISOString()}`)
  const size = `${formatBytes(Number(r.byte_len))} in ${r.part_count} parts`
  output.line(`${paintStatus(statusOf(r))}  ${pc.bold(printableLine(r.purpose))}`)
  output.dim(`${r.staging_kind} · ${r.payload_type} · ${size}`)
  output.line()
  output.facts([
    ['id', r.staging_record_id],
    ['change', r.change !== null && `#${r.change}`],
    ['digest', r.content_hash],
    ['owner', `${names(r.owner_actor)}${via}, ${formatAge(r.created_at)} ago`],
    ['source', joinWords([r.source_kind, r.source_ref], ' ')],
    ['expires', r.expires_at.toISOString()],
    ['approved', r.approvers.length > 0 && approversText(r.approvers, names)],
    ['withdrawn', r.withdrawn],
    [
      'rejected',
      r.withdrawn === null &&
        at(r.rejected_at, `by ${names(r.rejected_by ?? '')} {at}: ${r.rejected_reason}`),
    ],
    ['consumed', at(r.consumed_at, `by run ${r.consumed_by_run_id} {at}`)],
    ['cleaned', at(r.cleaned_at, '{at}: the payload is deleted, the digests stay')],
  ])
  for (const digest of r.part_digests) {
    const part = parts.find((candidate) => candidate.part_index === digest.part_index)
    const head = `${digest.part_index}  ${printableLine(digest.part_name)}`
    const facts = `${digest.payload_kind}, ${formatBytes(digest.byte_len)},`
    const fits = textWidth(`${head} ${facts} ${digest.content_hash}`) <= windowWidth()
    output.line(`\n${pc.bold(head)} ${pc.dim(`${facts}${fits ? ' ' : '\n   '}${digest.content_hash}`)}`)
    if (part) output.line(partText(part, full))
  }
  printChecklist(output, checklist, names)
}

/** Of a part, unless asked for all of it. */
const MAX_PART_LINES = 20
const MAX_LINE_WIDTH = 160

/** JSON comes laid out by PostgreSQL: JavaScript would round the very numbers that a reviewer must see. */
function partText({ content, part_index }: Part, full: boolean): string {
  const lines = printable(content ?? `(a blob: show --part ${part_index} prints it)`).split('\n')
  const cut = lines.map((line) => truncate(line, MAX_LINE_WIDTH))
  return (full ? lines : firstLines(cut, MAX_PART_LINES)).map((line) => `   ${line}`).join('\n')
}

function printChecklist(output: Output, checklist: readonly ChecklistItem[], names: MemberNames): void {
  if (checklist.length > 0) output.heading('Checklist')
  for (const { item_id, label, required, ticked_at, ticked_by, note } of checklist) {
    const mark = ticked_at ? pc.green('[x]') : required ? pc.yellow('[ ]') : '[ ]'
    const remark = ticked_at ? ` ${names(ticked_by!)}${note ? `: ${note}` : ''}` : required ? '' : ' optional'
    output.line(`  ${mark} ${printableLine(`${item_id}  ${label}`)}${pc.dim(printableLine(remark))}`)
  }
}

/** Without these ticks an approval is refused. */
function openItems(checklist: readonly ChecklistItem[]): string[] {
  return checklist.filter(({ required, ticked_at }) => required && !ticked_at).map(({ item_id }) => item_id)
}

function tickItemsCommand(id: string, items: readonly string[]): string {
  return `stagedoor staging tick --as reviewer ${id} ${items.map(shellWord).join(' ')}`
}

// Decisions.

const tickCommand = () =>
  recordVerb('tick', 'tick items of a record’s checklist')
    .argument('<item...>', 'ids of items, as `staging show` lists them')
    .option('--undo', 'clear the ticks')
    .option('--note <text>', 'a remark to keep with them')
    .run(async ({ options, output, decide }, id, items) => {
      const ticked = options.undo !== true
      await decide(async (client) => {
        for (const item of items) await tickItem(client, id, item, { ticked, note: options.note })
      })
      const done = `${items.join(', ')} ${ticked ? 'ticked' : 'open again'}`
      output.result({ staging_record_id: id, items, ticked }, done)
    })

const approveCommand = () =>
  recordVerb('approve', 'approve exactly the bytes that you saw')
    .option(
      '--digest <digest>',
      `as \`staging show\` printed it; its first ${MIN_DIGEST_LENGTH} characters are enough; on a terminal you are asked`,
      parseDigest('staging show'),
    )
    .option('--doc <id>', 'document of the review')
    .run(async (session, id) => {
      const { options, output, decide } = session
      const seen = options.digest ?? (await askForDigest(session, id))
      if (seen === undefined) return output.line('Nothing was decided.')
      let open: string[] = []
      const standing = await decide(async (client) => {
        const { content_hash } = await requireRecord(client, id)
        await requireIntactBlobs(client, blobsOf(options), id, { others: 'refused' })
        open = openItems(await readChecklist(client, id))
        const digest = content_hash.startsWith(seen) ? content_hash : seen
        await approveRecord(client, id, { digest, approvalDocId: options.doc })
        return findStandingOf(client, id)
      }).catch((error: unknown) => {
        throw isError(error, 'staging_checklist_open') ? ticksMissing(id, open) : error
      })
      if (standing?.met === false)
        return printStatus(output, id, 'pending', `Your approval of ${id} is recorded: ${standing.summary}`)
      printStatus(output, id, 'approved', `Approved ${id}`)
    })

/** Shows the record and asks. What is approved is the digest of what was shown; undefined: the answer was no. */
async function askForDigest(session: Session, id: string): Promise<string | undefined> {
  const { output, decide } = session
  if (!canAsk() || output.json)
    throw argumentInvalid(
      'This is not a terminal: say which bytes you saw with --digest',
      `\`stagedoor staging show ${id}\` prints the record and its digest.`,
    )
  const found = await decide((client) => loadRecord(client, id))
  const names = await session.memberNames()
  const { record, checklist } = found
  if (record.staging_kind !== 'mark_manifest' || !(await printAsMarking(session, found, names)))
    printRecord(output, found, names)
  const open = openItems(checklist)
  if (record.lifecycle_status === 'pending' && open.length > 0) throw ticksMissing(id, open)
  const digest = record.content_hash
  output.line()
  return (await confirm(`Approve exactly this, ${digest.slice(0, MIN_DIGEST_LENGTH)}`)) ? digest : undefined
}

/** The pieces beside the text, as `mark show` has them; of a document that was cut before, those that the cut would change. */
async function printAsMarking(
  { output, decide }: Session,
  { record, checklist }: RecordWithParts,
  names: MemberNames,
): Promise<boolean> {
  const { staging_record_id: id } = record
  // Loaded here: no other record needs it.
  const { readMarking } = await import('../app/marking.ts')
  const { printMarking } = await import('./mark.ts')
  const marking = await decide((client) =>
    readMarking(client, id).catch((error: unknown) => {
      // A manifest whose document is not known here, or what is left of one.
      if (isError(error, 'argument_invalid')) return undefined
      throw error
    }),
  )
  if (!marking) return false
  printMarking(output, marking, { changed: true })
  output.dim(`Marked by ${names(record.owner_actor)}, ${formatAge(record.created_at)} ago`)
  printChecklist(output, checklist, names)
  return true
}

function isError(error: unknown, code: StagedoorError['code']): boolean {
  return error instanceof StagedoorError && error.code === code
}

function ticksMissing(record: string, open: readonly string[]): StagedoorError {
  return new StagedoorError(
    'staging_checklist_open',
    { record, items: open.join(', ') },
    { hint: `Tick each required item first: \`${tickItemsCommand(record, open)}\`` },
  )
}

function printStatus(output: Output, id: string, status: string, done: string, more = {}): void {
  output.result({ staging_record_id: id, lifecycle_status: status, ...more }, done)
}

const rejectCommand = () =>
  recordVerb('reject', 'reject a pending record')
    .requiredOption('--reason <text>', 'for its owner to read')
    .run(async ({ options, output, decide }, id) => {
      await decide((client) => rejectRecord(client, id, options.reason))
      printStatus(output, id, 'rejected', `Rejected ${id}`)
    })

const withdrawCommand = () =>
  recordVerb('withdraw', 'withdraw your own record that nobody has decided yet').run(
    async ({ output, transaction }, id) => {
      await transaction((client) => withdrawRecord(client, id))
      printStatus(output, id, 'rejected', `Withdrew ${id}`)
    },
  )

const consumeCommand = () =>
  recordVerb('consume', 'mark a record as used by a run')
    .option('--run <id>', 'a run that is open; default: one is opened and ended')
    .option('--command <name>', 'what consumes it, when a run is opened', 'staging consume')
    .option('--digest <digest>', 'refuse if it holds anything else')
    .run(async ({ options, output, transaction }, id) => {
      const { run: runId, command, digest } = options
      const run = await transaction(async (client) => {
        await requireIntactBlobs(client, blobsOf(options), id, { others: 'refused' })
        return consumeRecord(client, id, { command, runId, digest })
      })
      printStatus(output, id, 'consumed', `Consumed ${id} by run ${run}`, { run_id: run })
    })

// Retention, health and policies.

const expireCommand = () =>
  command('expire', 'expire what is overdue now instead of at the next round')
    .limit(10_000, 100_000, 'at most')
    .run(async ({ options, output, transaction }) => {
      const expired = await transaction((client) => expireRecords(client, options.limit))
      const none = () => output.line('Nothing is overdue.')
      output.result({ expired }, expired === 0 ? none : `${expired} expired`)
    })

const cleanupCommand = () =>
  command('cleanup', 'delete the payload of ended records past their retention; tombstones stay')
    .option('--dry-run', 'only say what would be deleted')
    .option('--kind <kind...>', 'only these', STAGING_KINDS)
    .limit(1000, 100_000, 'records a batch')
    .run(async ({ options, output, transaction }) => {
      const { limit, kind: kinds, dryRun: dry_run = false } = options
      const total = { cleaned: 0, parts: 0, bytes: 0, dry_run }
      for (;;) {
        // A transaction a batch: stopped half-way, the next call continues.
        const batch = await transaction((client) => cleanRecords(client, { limit, dry_run, kinds }))
        total.cleaned += batch.cleaned
        total.parts += batch.parts
        total.bytes += batch.bytes
        if (batch.cleaned < limit || dry_run) break
        output.note(pc.dim(`  ${total.cleaned} so far`))
      }
      output.result(total, () => {
        if (total.cleaned === 0) return output.line('Nothing is past its retention.')
        const what = `${total.cleaned} records, ${total.parts} parts, ${formatBytes(total.bytes)}`
        if (dry_run) output.line(`Would clean ${what}.`)
        else output.done(`Cleaned ${what}.`)
      })
    })

const healthCommand = () =>
  command(
    'health',
    'is the zone in order: exclusion from search and its stores, digests, overdue records, gates',
  )
    .option('--sample <n>', 'how many parts to check byte by byte', integerBetween(0, 1_000_000), 100)
    .run(async (session) => {
      const { output, config, transaction } = session
      const { sample } = session.options
      const { knownBlobs, openStores } = await import('../app/stores.ts')
      const { withStoreHealth } = await import('../app/search.ts')
      const blobs = knownBlobs(await session.database(), openStores(config))
      const zone = await transaction(async (client) => {
        const found = await stagingHealth(client, sample)
        return blobs ? withBlobHealth(client, blobs, found, sample) : found
      })
      const health = await withStoreHealth(await session.pool(), config, zone)
      output.result(health, () => {
        for (const { ok, name, detail } of health.checks)
          output.line(`${ok ? pc.green('✔') : pc.red('✖')} ${printableLine(`${name}: ${detail}`)}`)
        const counts = Object.entries(health.lifecycle).map(([status, count]) => `${count} ${status}`)
        output.dim(`  ${counts.join(', ')}`)
        for (const [gate, open] of Object.entries(health.gates))
          output.dim(`  ${gate} is ${open ? 'open' : 'closed'}`)
      })
      if (health.ok) return
      const count = health.checks.filter((check) => !check.ok).length
      const message = `The staging zone is not in order in ${plural(count, 'point')}`
      throw new StagedoorError('drift', { count }, { message })
    })

const ON_OFF = ['on', 'off'] as const

const policyCommand = () =>
  command('policy', 'what each kind needs and how long it lives; or change one, for records from now on')
    .argument('[kind]', 'the kind to change')
    .option('--four-eyes <on|off>', 'must somebody else than the owner approve?', ON_OFF)
    .option('--checklist <on|off>', 'must the checklist be ticked first?', ON_OFF)
    .option('--time-to-live <interval>', 'for example "3 days"')
    .option('--retention <interval>', 'how long the payload stays after the end')
    .option('--reason <text>', 'kept in the audit; needed for a change')
    .run(async ({ options, output, administrator, transaction }, kind) => {
      const changes = {
        four_eyes: options.fourEyes && options.fourEyes === 'on',
        checklist_required: options.checklist && options.checklist === 'on',
        time_to_live: options.timeToLive,
        retention: options.retention,
      }
      if (kind !== undefined && Object.values(changes).some((change) => change !== undefined))
        await administrator((client) => setPolicy(client, kind, changes, options.reason ?? ''))
      const all = await transaction(listPolicies)
      const policies = all.filter(({ staging_kind }) => kind === undefined || staging_kind === kind)
      if (kind !== undefined && policies.length === 0)
        throw new StagedoorError('not_found', { what: `staging kind ${kind}` })
      output.list(policies, POLICY_COLUMNS, '')
    })

const POLICY_COLUMNS: Column<KindPolicy>[] = [
  { title: 'kind', value: ({ staging_kind }) => staging_kind },
  { title: 'approval', value: ({ approval_required }) => (approval_required ? 'required' : 'optional') },
  { title: 'four eyes', value: ({ four_eyes }) => (four_eyes ? 'on' : 'off') },
  { title: 'checklist', value: ({ checklist_required }) => (checklist_required ? 'required' : '–') },
  { title: 'lives', value: ({ time_to_live }) => time_to_live },
  { title: 'kept after', value: ({ retention }) => retention },
  { title: 'takes', value: ({ payload_types }) => payload_types.join(', ') },
]
