import { Command, InvalidArgumentError, Option } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { REPEATED_KEYS, type RepeatedKeys } from '../../../ingest/datasets/dataset.ts'
import {
  listPlanRows,
  listStaleRows,
  PLAN_ACTIONS,
  type PlanAction,
  planUpload,
} from '../../../ingest/plan.ts'
import { requireUpload } from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { look, printChange, type Shown } from './look.ts'
import { planRowLines, staleRowLines } from './plan-rows.ts'
import { type Session, withSession } from './session.ts'
import { planRefused } from './stopped.ts'

interface PlanOptions extends ActingOptions {
  readonly onInvalid?: 'refuse' | 'skip'
  readonly threshold?: number
  readonly repeatedKeys?: RepeatedKeys
  readonly again?: boolean
  readonly rows?: boolean
  readonly stale?: boolean
  readonly action?: PlanAction
  readonly type?: string
  readonly column?: string
  readonly byMoreThan?: number
  readonly limit: number
  readonly after?: string
}

const PAGE = 50

export function onInvalidOption(): Option {
  return new Option(
    '--on-invalid <refuse|skip>',
    'wrong lines: refuse the whole file, or leave them out',
  ).choices(['refuse', 'skip'])
}

export function thresholdOption(): Option {
  return new Option(
    '--threshold <share>',
    'with skip: the share of valid lines that is enough (0.9)',
  ).argParser(share)
}

export function repeatedKeysOption(): Option {
  return new Option(
    '--repeated-keys <how>',
    'lines with the same key: refuse them, add them up, or take the last or the first (default: as the dataset says)',
  ).choices(REPEATED_KEYS)
}

function share(value: string): number {
  const number = Number(value)
  if (value.trim() === '' || !(number >= 0 && number <= 1))
    throw new InvalidArgumentError('A share from 0 to 1.')
  return number
}

export function planCommand(): Command {
  return new Command('plan')
    .description('what an upload would change; nothing in the tables is written or locked')
    .argument('<id>', 'of the upload', uploadId)
    .addOption(onInvalidOption())
    .addOption(thresholdOption())
    .addOption(repeatedKeysOption())
    .option('--again', 'plan it anew, though there is a plan; what was handed in for approval is gone then')
    .option('--rows', 'row by row, old → new')
    .option('--stale', 'the rows that somebody changed since it was planned: before, planned, now')
    .addOption(new Option('--action <action>', 'with --rows: only these').choices(PLAN_ACTIONS))
    .option('--type <row type>', 'with --rows: only these, as `dataset show` lists them')
    .option('--column <column>', 'with --rows: only changes of this column')
    .option(
      '--by-more-than <share>',
      'with --column: only where it changes by more than this share',
      positive,
    )
    .option('--limit <n>', 'with --rows or --stale: how many', whole(1, 1000), PAGE)
    .option('--after <row>', 'with --rows: the page after this row')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<PlanOptions>()
      const output = outputOf(options)
      if (options.byMoreThan !== undefined && options.column === undefined) {
        throw new StagedoorError('argument_invalid', { reason: '--by-more-than asks for --column' })
      }
      await withSession(options, { upload: id }, async (session) => {
        if (options.stale) return printStale(session, id, options)
        const planned = await planIfNeeded(session, id, options)
        const shown = await look(session, id)
        const { upload } = shown
        const refused = planned && upload.plan_refusal !== null && upload.run_mode !== 'FULL_DRY_RUN'
        if (options.rows) await printRows(session, shown, options)
        else {
          output.result(upload, () =>
            printChange(output, shown, options, planned ? 'Planned' : 'This is its plan', !refused),
          )
        }
        // Whoever asked for a plan asked for one that can be promoted.
        if (refused) throw planRefused(upload)
      })
    })
}

async function printStale(session: Session, id: string, options: PlanOptions): Promise<void> {
  const output = outputOf(options)
  const found = await session.act((client) => listStaleRows(client, id, { limit: options.limit }))
  output.result(found, () => {
    const { items, total } = found
    if (total === 0) return output.line('Nothing has changed since it was planned.')
    output.line(staleRowLines(items))
    const more = total - items.length
    if (more > 0) output.line(pc.dim(`\n  ${more} more: --limit ${Math.min(total, 1000)}`))
    output.line(pc.dim(`\n  Plan it again: stagedoor upload plan ${id} --again`))
  })
}

function positive(value: string): number {
  const number = Number(value)
  if (value.trim() === '' || !(number >= 0)) throw new InvalidArgumentError('A share, such as 0.2 for 20 %.')
  return number
}

/** A plan that is there may wait for a colleague: only who asks for another one gets it. */
async function planIfNeeded(session: Session, id: string, options: PlanOptions): Promise<boolean> {
  return session.act(async (client) => {
    const upload = await requireUpload(client, id)
    const asked =
      options.onInvalid !== undefined ||
      options.threshold !== undefined ||
      options.repeatedKeys !== undefined ||
      options.again === true
    if (!asked && upload.status !== 'staged') return false
    const skip =
      options.onInvalid === undefined ? upload.gate_mode === 'LENIENT' : options.onInvalid === 'skip'
    const threshold = options.threshold ?? (upload.threshold === null ? undefined : Number(upload.threshold))
    await planUpload(client, id, {
      gate_mode: skip ? 'LENIENT' : 'STRICT',
      ...(threshold !== undefined && { threshold }),
      ...(options.repeatedKeys && { repeated_keys: options.repeatedKeys }),
    })
    return true
  })
}

async function printRows(session: Session, { upload, dataset }: Shown, options: PlanOptions): Promise<void> {
  const output = outputOf(options)
  const rows = await session.act((client) =>
    listPlanRows(client, upload.upload_id, {
      limit: options.limit,
      ...(options.type !== undefined && { row_type: options.type }),
      ...(options.action !== undefined && { action: options.action }),
      ...(options.column !== undefined && { column: options.column }),
      ...(options.byMoreThan !== undefined && { by_more_than: options.byMoreThan }),
      ...(options.after !== undefined && { after: options.after }),
    }),
  )
  const last = rows.at(-1)
  const next = last && rows.length === options.limit ? `${last.type_order}.${last.row_number}` : null
  output.result({ rows, next }, () => {
    if (rows.length === 0) return output.line('No such rows in the plan.')
    output.line(planRowLines(rows, dataset?.definition, upload.reading))
    if (next) output.line(pc.dim(`\n  More: ${moreOf(upload.upload_id, options)} --after ${next}`))
  })
}

/** The same view: pasted, it goes on where this page ended. */
function moreOf(id: string, { as, user, action, type, column, byMoreThan, limit }: PlanOptions): string {
  const chosen = {
    as,
    user,
    action,
    type,
    column,
    'by-more-than': byMoreThan,
    limit: limit === PAGE ? undefined : limit,
  }
  const words = Object.entries(chosen).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name} ${value}`,
  )
  return ['stagedoor upload plan', id, '--rows', ...words].join(' ')
}
