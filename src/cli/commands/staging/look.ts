import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import {
  type ChecklistItem,
  findRecord,
  LIFECYCLE,
  listRecords,
  type Part,
  readChecklist,
  readPart,
  STAGING_KINDS,
  type StagingRecord,
} from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { recordId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import {
  age,
  bytes,
  cut,
  type Output,
  table,
  visible,
  visibleLine,
  widthOf,
  windowWidth,
} from '../../output.ts'
import { type NextStep, printNext } from '../upload/next-step.ts'
import { type Names, namesIn } from '../upload/session.ts'
import { blobsOf, printBlob } from './blobs.ts'

interface ListOptions extends ActingOptions {
  readonly status?: (typeof LIFECYCLE)[number]
  readonly kind?: (typeof STAGING_KINDS)[number]
  readonly owner?: string
  readonly workspace?: string
  readonly limit: number
  readonly after?: string
}

/** Of a part, unless asked for all of it. */
const MOST_LINES = 20
const LONGEST_LINE = 160

export function listCommand(): Command {
  return new Command('list')
    .description('records, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(LIFECYCLE))
    .addOption(new Option('--kind <kind>', 'only these').choices(STAGING_KINDS))
    .option('--owner <actor>', 'only these')
    .option('--workspace <id>', 'only these')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this record')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const { records, names } = await acting(
        options,
        async (client, database) => ({
          records: await listRecords(client, options),
          names: await namesIn(database),
        }),
        options.workspace === undefined ? {} : { workspace: options.workspace },
      )
      output.result(records, () => {
        if (records.length === 0) {
          return output.line(
            'Nothing is staged here. `stagedoor staging create --help` shows how to hold something.',
          )
        }
        output.line(
          table(
            [
              ['id', 'status', 'kind', 'purpose', 'owner', 'age'],
              ...records.map((record) => row(record, names)),
            ],
            (cell, column, line) => (line === 0 ? pc.dim(cell) : column === 1 ? paintStatus(cell) : cell),
          ),
        )
      })
    })
}

function row(record: StagingRecord, names: Names): string[] {
  return [
    record.staging_record_id,
    record.lifecycle_status,
    record.staging_kind,
    cut(record.purpose, 50),
    cut(names(record.owner_actor), 36),
    age(record.created_at),
  ]
}

export function showCommand(): Command {
  return new Command('show')
    .description('a record with its parts, readably')
    .argument('<id>', 'of the record', recordId)
    .option('--part <n>', 'print this part alone, exactly as it is held', whole(0, 99))
    .option('--full', 'do not shorten long parts')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { part?: number; full?: boolean }>()
      const output = outputOf(options)
      let external = false
      let names: Names = (actor) => actor
      const found = await acting(
        options,
        async (client, database) => {
          external = database.kind === 'external'
          names = await namesIn(database)
          return readWhole(client, id, options.part)
        },
        { record: id },
      )
      if (options.part !== undefined) return printPart(options, found.parts[0], id, options.part)
      output.result(found, () => {
        printRecord(output, found, { names, full: options.full === true })
        printNext(output, nextOf(found, external))
      })
    })
}

function nextOf({ record, checklist }: WholeRecord, external: boolean): NextStep[] {
  if (record.lifecycle_status !== 'pending' || !record.approval_required) return []
  const approve = howToApprove(record, external)
  const open = openItems(checklist)
  if (open.length === 0) return [{ what: 'Approve exactly this', command: approve }]
  return [
    { what: 'Tick what you have looked at', command: howToTick(record, open, external) },
    { what: 'Then approve exactly this', command: approve },
  ]
}

export interface WholeRecord {
  readonly record: StagingRecord
  readonly parts: readonly Part[]
  readonly checklist: readonly ChecklistItem[]
}

/** A record with all of its parts for people to read, or with one of them as it is held. */
export async function readWhole(client: Client, id: string, only?: number): Promise<WholeRecord> {
  const record = await findRecord(client, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  const indexes = only === undefined ? record.part_digests.map((part) => part.part_index) : [only]
  const parts: Part[] = []
  for (const index of indexes) {
    const part = await readPart(client, id, index, { pretty: only === undefined })
    if (part) parts.push(part)
  }
  return { record, parts, checklist: await readChecklist(client, id) }
}

async function printPart(
  options: ActingOptions,
  part: Part | undefined,
  id: string,
  index: number,
): Promise<void> {
  if (!part) throw new StagedoorError('not_found', { what: `part ${index} of record ${id}` })
  if (part.content === null) return printBlob(blobsOf(options), id, part)
  process.stdout.write(part.content)
}

export function printRecord(
  output: Output,
  { record: r, parts, checklist }: WholeRecord,
  { names, full }: { names: Names; full: boolean },
): void {
  output.line(`${paintStatus(r.lifecycle_status)}  ${pc.bold(visibleLine(r.purpose))}`)
  output.line(
    pc.dim(`${r.staging_kind} · ${r.payload_type} · ${bytes(Number(r.byte_len))} in ${r.part_count} parts`),
  )
  output.line()
  const facts: [string, string][] = [
    ['id', r.staging_record_id],
    ['digest', r.content_hash],
    [
      'owner',
      `${names(r.owner_actor)}${r.owner_via ? ` (by ${r.owner_via})` : ''}, ${age(r.created_at)} ago`,
    ],
    ['source', [r.source_kind, r.source_ref].filter(Boolean).join(' ')],
    ['expires', r.expires_at.toISOString()],
  ]
  if (r.approved_at) facts.push(['approved', `by ${names(r.approved_by!)} at ${r.approved_at.toISOString()}`])
  if (r.rejected_at)
    facts.push([
      'rejected',
      `by ${names(r.rejected_by!)} at ${r.rejected_at.toISOString()}: ${r.rejected_reason}`,
    ])
  if (r.consumed_at)
    facts.push(['consumed', `by run ${r.consumed_by_run_id} at ${r.consumed_at.toISOString()}`])
  if (r.cleaned_at)
    facts.push(['cleaned', `at ${r.cleaned_at.toISOString()}: the payload is gone, the digests stay`])
  output.line(table(facts, (cell, column) => (column === 0 ? pc.dim(cell) : cell)))
  for (const digest of r.part_digests) {
    const part = parts.find((candidate) => candidate.part_index === digest.part_index)
    const head = `${digest.part_index}  ${visibleLine(digest.part_name)}`
    const facts = `${digest.payload_kind}, ${bytes(digest.byte_len)},`
    const fits = widthOf(`${head} ${facts} ${digest.content_hash}`) <= windowWidth()
    output.line(`\n${pc.bold(head)} ${pc.dim(`${facts}${fits ? ' ' : '\n   '}${digest.content_hash}`)}`)
    if (part) output.line(indent(readable(part), full))
  }
  printChecklist(output, checklist, names)
}

export function printChecklist(output: Output, checklist: readonly ChecklistItem[], names: Names): void {
  if (checklist.length === 0) return
  output.line(`\n${pc.bold('Checklist')}`)
  for (const item of checklist) {
    const mark = item.ticked_at ? pc.green('[x]') : item.required ? pc.yellow('[ ]') : '[ ]'
    const who = item.ticked_at
      ? pc.dim(visibleLine(` ${names(item.ticked_by!)}${item.note ? `: ${item.note}` : ''}`))
      : item.required
        ? ''
        : pc.dim(' optional')
    output.line(`  ${mark} ${visibleLine(`${item.item_id}  ${item.label}`)}${who}`)
  }
}

/** Without these ticks an approval is refused. */
export function openItems(checklist: readonly ChecklistItem[]): string[] {
  return checklist.filter(({ required, ticked_at }) => required && !ticked_at).map(({ item_id }) => item_id)
}

export function howToTick(
  { staging_record_id: id }: Pick<StagingRecord, 'staging_record_id'>,
  items: readonly string[],
  external: boolean,
): string {
  const named = items.map((item) => (/^[\w.-]+$/.test(item) ? item : `'${item.replaceAll("'", `'\\''`)}'`))
  return external
    ? `POST /api/staging/${id}/tick with the reviewer’s token`
    : `stagedoor staging tick --as reviewer ${id} ${named.join(' ')}`
}

/** On one's own database people decide over the API, with their own tokens. */
export function howToApprove(
  { staging_record_id: id, content_hash: digest }: StagingRecord,
  external: boolean,
): string {
  return external
    ? `POST /api/staging/${id}/approve with the reviewer’s token and {"digest": "${digest}"}`
    : `stagedoor staging approve --as reviewer ${id} --digest ${digest}`
}

/** JSON comes laid out by PostgreSQL: JavaScript would round the very numbers that a reviewer must see. */
function readable(part: Part): string {
  return part.content ?? `(a blob: show --part ${part.part_index} prints it)`
}

function indent(text: string, full: boolean): string {
  const lines = text.split('\n')
  if (full) return lines.map((line) => `   ${visible(line)}`).join('\n')
  const shown = lines.slice(0, MOST_LINES).map((line) => cut(visible(line), LONGEST_LINE))
  const rest = lines.length - shown.length
  return [
    ...shown.map((line) => `   ${line}`),
    ...(rest > 0 ? [pc.dim(`   … ${rest} more lines: --full`)] : []),
  ].join('\n')
}

function paintStatus(status: string): string {
  const name = status.trim()
  if (name === 'pending') return pc.yellow(status)
  if (name === 'approved' || name === 'consumed') return pc.green(status)
  return name === 'rejected' ? pc.red(status) : pc.dim(status)
}
