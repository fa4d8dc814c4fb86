import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { requireIntactBlobs } from '../../../staging/blobs/verify.ts'
import {
  approveRecord,
  consumeRecord,
  findRecord,
  readChecklist,
  rejectRecord,
  tickItem,
  withdrawRecord,
} from '../../../staging/records.ts'
import { type ActingOptions, acting, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { recordId } from '../../ids.ts'
import { age, type Output } from '../../output.ts'
import { canAsk, confirm } from '../upload/ask.ts'
import { type Names, namesIn } from '../upload/session.ts'
import { blobsOf } from './blobs.ts'
import { howToTick, openItems, printChecklist, printRecord, readWhole, type WholeRecord } from './look.ts'

/** Enough of a digest that nobody types it by accident. */
const SHORTEST_DIGEST = 12

export function tickCommand(): Command {
  return new Command('tick')
    .description('tick items of a record’s checklist')
    .argument('<id>', 'of the record', recordId)
    .argument('<item...>', 'ids of items, as `staging show` lists them')
    .option('--undo', 'take the ticks away')
    .option('--note <text>', 'a remark to keep with them')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, items: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { undo?: boolean; note?: string }>()
      const output = outputOf(options)
      const ticked = options.undo !== true
      await acting(
        options,
        async (client) => {
          for (const item of items) await tickItem(client, id, item, ticked, options.note)
        },
        { record: id, decides: true },
      )
      output.result({ staging_record_id: id, items, ticked }, () =>
        output.line(`${pc.green('✔')} ${items.join(', ')} ${ticked ? 'ticked' : 'open again'}`),
      )
    })
}

export function approveCommand(): Command {
  return new Command('approve')
    .description('approve exactly the bytes that you saw')
    .argument('<id>', 'of the record', recordId)
    .option(
      '--digest <digest>',
      `as \`staging show\` printed it; its first ${SHORTEST_DIGEST} characters will do; on a terminal you are asked`,
    )
    .option('--doc <id>', 'document of the review')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { digest?: string; doc?: string }>()
      const output = outputOf(options)
      if (options.digest !== undefined) requireLong(options.digest)
      const seen = options.digest ?? (await askForDigest(options, output, id))
      if (seen === undefined) return output.line('Nothing was decided.')
      let open: string[] = []
      await acting(
        options,
        async (client) => {
          const record = await findRecord(client, id)
          if (!record) throw new StagedoorError('staging_not_found', { record: id })
          await requireIntactBlobs(client, blobsOf(options), id, { others: 'refused' })
          const digest = record.content_hash.startsWith(seen) ? record.content_hash : seen
          open = openItems(await readChecklist(client, id))
          await approveRecord(client, id, {
            digest,
            ...(options.doc !== undefined && { approvalDocId: options.doc }),
          })
        },
        { record: id, decides: true },
      ).catch((error: unknown) => {
        throw isError(error, 'staging_checklist_open') ? ticksMissing(id, open) : error
      })
      output.result({ staging_record_id: id, lifecycle_status: 'approved' }, () =>
        output.line(`${pc.green('✔')} Approved ${id}`),
      )
    })
}

/** Shows the record and asks. What is approved is the digest of what was shown; undefined: the answer was no. */
async function askForDigest(options: ActingOptions, output: Output, id: string): Promise<string | undefined> {
  if (!canAsk() || output.json)
    throw new StagedoorError(
      'argument_invalid',
      { reason: 'This is not a terminal: say which bytes you saw with --digest' },
      { hint: `\`stagedoor staging show ${id}\` prints the record and its digest.` },
    )
  let names: Names = (actor) => actor
  const found = await acting(
    options,
    async (client, database) => {
      names = await namesIn(database)
      return readWhole(client, id)
    },
    { record: id, decides: true },
  )
  if (found.record.staging_kind === 'mark_manifest') await printAsMarking(options, output, found, names)
  else printRecord(output, found, { names, full: false })
  const open = openItems(found.checklist)
  if (found.record.lifecycle_status === 'pending' && open.length > 0) throw ticksMissing(id, open)
  const digest = found.record.content_hash
  output.line()
  const question = `${pc.yellow('?')} Approve exactly this, ${digest.slice(0, SHORTEST_DIGEST)}`
  return (await confirm(question)) ? digest : undefined
}

/** The pieces beside the text, as `mark show` has them; of a document that was cut before, those that the cut would touch. */
async function printAsMarking(
  options: ActingOptions,
  output: Output,
  found: WholeRecord,
  names: Names,
): Promise<void> {
  const { record } = found
  // Loaded here: no other record needs it.
  const { readMarking } = await import('../../../stagedoor/marked.ts')
  const { printMarking } = await import('../mark/show.ts')
  const marking = await acting(
    options,
    (client) =>
      readMarking(client, record.staging_record_id).catch((error: unknown) => {
        // A manifest whose document is not known here, or what is left of one.
        if (isError(error, 'argument_invalid')) return undefined
        throw error
      }),
    { record: record.staging_record_id, decides: true },
  )
  if (!marking) return printRecord(output, found, { names, full: false })
  printMarking(output, marking, { changed: true })
  output.line(pc.dim(`Marked by ${names(record.owner_actor)}, ${age(record.created_at)} ago`))
  printChecklist(output, found.checklist, names)
}

function isError(error: unknown, code: StagedoorError['code']): boolean {
  return error instanceof StagedoorError && error.code === code
}

function ticksMissing(record: string, open: readonly string[]): StagedoorError {
  const command = howToTick({ staging_record_id: record }, open, false)
  return new StagedoorError(
    'staging_checklist_open',
    { record, items: open.join(', ') },
    { hint: `Tick each required item first: \`${command}\`` },
  )
}

function requireLong(digest: string): void {
  if (digest.length >= SHORTEST_DIGEST) return
  const reason = `--digest ${digest} is too short: give at least ${SHORTEST_DIGEST} characters`
  throw new StagedoorError(
    'argument_invalid',
    { reason },
    { hint: '`stagedoor staging show <id>` prints it, with what it stands for.' },
  )
}

export function rejectCommand(): Command {
  return new Command('reject')
    .description('reject a pending record')
    .argument('<id>', 'of the record', recordId)
    .requiredOption('--reason <text>', 'for its owner to read')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { reason: string }>()
      const output = outputOf(options)
      await acting(options, (client) => rejectRecord(client, id, options.reason), {
        record: id,
        decides: true,
      })
      output.result({ staging_record_id: id, lifecycle_status: 'rejected' }, () =>
        output.line(`${pc.green('✔')} Rejected ${id}`),
      )
    })
}

export function withdrawCommand(): Command {
  return new Command('withdraw')
    .description('take back your own record that nobody has decided yet')
    .argument('<id>', 'of the record', recordId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      await acting(options, (client) => withdrawRecord(client, id), { record: id })
      output.result({ staging_record_id: id, lifecycle_status: 'rejected' }, () =>
        output.line(`${pc.green('✔')} Withdrew ${id}`),
      )
    })
}

export function consumeCommand(): Command {
  return new Command('consume')
    .description('mark a record as used by a run')
    .argument('<id>', 'of the record', recordId)
    .option('--run <id>', 'a run that is open; default: one is opened and ended')
    .option('--command <name>', 'what consumes it, when a run is opened', 'staging consume')
    .option('--digest <digest>', 'refuse if it holds anything else')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<
        ActingOptions & { run?: string; command: string; digest?: string }
      >()
      const output = outputOf(options)
      const run = await acting(
        options,
        async (client) => {
          await requireIntactBlobs(client, blobsOf(options), id, { others: 'refused' })
          return consumeRecord(client, id, {
            command: options.command,
            ...(options.run !== undefined && { runId: options.run }),
            ...(options.digest !== undefined && { digest: options.digest }),
          })
        },
        { record: id },
      )
      output.result({ staging_record_id: id, lifecycle_status: 'consumed', run_id: run }, () =>
        output.line(`${pc.green('✔')} Consumed ${id} by run ${run}`),
      )
    })
}
