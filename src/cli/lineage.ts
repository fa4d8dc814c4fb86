/**
 * `stagedoor lineage`, `stagedoor upload lineage` and `downstream`: which upload wrote a row, which rows an upload wrote, and what
 * followed from it.
 */
import pc from 'picocolors'
import { readDownstream } from '../app/trace.ts'
import type { Dataset } from '../ingest/datasets/dataset.ts'
import { listDatasets } from '../ingest/datasets/registry.ts'
import { type LedgerRow, type LineageEntry, rowLineage, uploadLineage } from '../ingest/promotion.ts'
import { requireUpload, type Upload } from '../ingest/uploads.ts'
import { UUID } from '../kernel/ids.ts'
import { argumentInvalid, parseJsonObject } from './arguments.ts'
import { command } from './command.ts'
import { approversText, formatAge, formatCount, plural } from './format.ts'
import { type MemberNames, workspaceOf } from './session.ts'
import { type Column, commandLine, formatRecords, type Output } from './terminal.ts'
import { printableLine, prose } from './text.ts'
import { labelOf } from './upload-plan.ts'
import { uploadVerb } from './upload-show.ts'

export const lineageCommand = () =>
  command('lineage', 'where a row of a table comes from: file, line, who approved it, who promoted it')
    .argument('<table>', 'such as public.daily_metrics')
    .option('--id <uuid>', 'of the row')
    .option('--key <json>', 'or its whole key, such as \'{"number": "A-17"}\'', parseJsonObject)
    .workspace()
    .actor({ backEndRole: 'service_role' })
    .run(async ({ options, output, transaction, memberNames }, table) => {
      const row = rowOf(options.id, options.key)
      const target = table.includes('.') ? table : `public.${table}`
      const { workspace, entries, datasets } = await transaction(async (client) => {
        const workspace = await workspaceOf(client, options.workspace)
        return {
          workspace,
          entries: await rowLineage(client, workspace, target, row),
          datasets: (await listDatasets(client)).map(({ definition }) => definition),
        }
      })
      const names = await memberNames(workspace)
      output.result(entries, () => {
        if (entries.length === 0) return output.line('No upload of this workspace has written this row.')
        for (const entry of entries) printEntry(output, entry, names, datasets)
      })
    })

function rowOf(id: string | undefined, key: Record<string, unknown> | undefined) {
  if (id !== undefined && key === undefined) {
    if (UUID.test(id)) return { id }
    throw argumentInvalid(`${id} is not a uuid; a row without one is named by --key`)
  }
  if (id === undefined && key !== undefined) return { key }
  throw argumentInvalid('Name the row by --id or by --key, one of them')
}

function printEntry(
  output: Output,
  entry: LineageEntry,
  names: MemberNames,
  datasets: readonly Dataset[],
): void {
  const { action, line, file_name, undone_at, undo_outcome, approvers } = entry
  const file = printableLine(file_name)
  const what =
    entry.statement !== null
      ? `${{ insert: 'Written', update: 'Changed', delete: 'Deleted' }[action]} by a statement`
      : action === 'delete'
        ? `Deleted: ${file} lacks it`
        : `${action === 'insert' ? 'Written' : 'Changed'} by line ${line} of ${file}`
  const undone = undone_at
    ? pc.yellow(`  undone ${formatAge(undone_at)} ago (${undo_outcome ?? 'kept'})`)
    : ''
  output.line(`${pc.bold(what)}${undone}`)
  if (entry.statement !== null)
    for (const text of entry.statement.split('\n')) output.line(`  ${pc.cyan(printableLine(text))}`)
  const name = rowName(entry, datasets)
  if (name !== '') output.line(printableLine(`  ${name}`))
  const approved = approvers.length > 0 ? `, approved ${approversText(approvers, names)}` : ''
  output.line(
    printableLine(
      `  uploaded by ${names(entry.uploaded_by)}${approved}, promoted by ${names(entry.promoted_by)} ${formatAge(entry.promoted_at)} ago`,
    ),
  )
  if (action === 'update' && entry.written !== null) {
    for (const { column, from, to } of entry.written)
      output.line(printableLine(`  ${column}: ${valueText(from)} → ${valueText(to)}`))
  }
  for (const { what, column, from, to, by, at } of entry.repairs) {
    const changes = {
      corrected: `${column}: ${from ?? ''} → ${to ?? ''}`,
      left_out: 'left out',
      taken_in: 'taken in again',
    }
    output.line(printableLine(`  ${changes[what]}, by ${names(by)} ${formatAge(new Date(at))} ago`))
  }
  output.dim(`  stagedoor upload show ${entry.upload_id}`)
}

/** What people call the row; empty once its line and its plan are deleted. */
function rowName(entry: LineageEntry, datasets: readonly Dataset[]): string {
  const dataset = datasets.find(({ rows }) =>
    rows.some(({ name, target }) => name === entry.row_type && target === entry.target),
  )
  return labelOf({ ...entry, row_key: entry.row_key ?? [], before: null }, dataset)
}

const valueText = (value: unknown): string =>
  value === null ? 'empty' : typeof value === 'object' ? JSON.stringify(value) : String(value)

const PAGE = 50

export const lineageOfUploadCommand = () =>
  uploadVerb('lineage', 'which rows of which tables an upload wrote, line by line')
    .limit(PAGE)
    .option('--after <row>', 'the page after this row')
    .run(async ({ options: { as, user, limit, after }, output, transaction, memberNames }, id) => {
      const { upload, rows, dataset } = await transaction(async (client) => {
        const found = await requireUpload(client, id)
        const known = (await listDatasets(client)).find((one) => one.dataset === found.dataset)
        return {
          upload: found,
          rows: await uploadLineage(client, id, { limit, after }),
          dataset: known?.definition,
        }
      })
      const names = await memberNames(upload.workspace_id)
      const last = rows.at(-1)
      const next = last && rows.length === limit ? `${last.type_order}.${last.line}` : null
      const { approvers, approved_by, approved_at, promoted_by, promoted_at } = upload
      output.result({ approvers, approved_by, approved_at, promoted_by, promoted_at, rows, next }, () => {
        if (rows.length === 0) return output.line('It has written nothing.')
        output.line(`${prose(originOf(upload, names))}\n\n${formatRecords(rows, ledgerColumns(dataset))}`)
        if (next === null) return
        const more = { as, user, limit: limit === PAGE ? undefined : limit, after: next }
        output.dim(`\n  ${formatCount(rows.length)} of ${formatCount(rowsWritten(upload))} rows`)
        output.dim(`  More: ${commandLine(`stagedoor upload lineage ${id}`, more)}`)
      })
    })

const ledgerColumns = (dataset: Dataset | undefined): Column<LedgerRow>[] => [
  { title: 'line', value: ({ line }) => line },
  { title: 'table', value: ({ target }) => target },
  {
    title: 'row',
    value: (row) => labelOf({ ...row, row_key: row.row_key ?? [], before: null }, dataset),
    shrinkTo: 24,
  },
  { title: 'id or key', value: ({ target_id, target_key }) => target_id ?? JSON.stringify(target_key) },
  { title: '', value: ({ action }) => (action === 'insert' ? 'new' : 'changed'), dim: true },
  {
    title: '',
    value: ({ undo_outcome, undo_reason }) =>
      undo_outcome === 'reversed' ? 'reverted' : undo_outcome && (undo_reason ?? undo_outcome),
    dim: true,
  },
]

/** week.csv, approved by Reviewer 2 min ago, promoted by Operator 1 min ago */
function originOf(upload: Upload, names: MemberNames): string {
  const steps = [
    ['promoted', upload.promoted_by, upload.promoted_at],
    ['undone', upload.undone_by, upload.undone_at],
  ] as const
  const done = steps.flatMap(([what, who, when]) =>
    who === null || when === null ? [] : [`${what} by ${printableLine(names(who))} ${formatAge(when)} ago`],
  )
  done.unshift(
    upload.approved_at === null
      ? 'no approval was required'
      : `approved ${printableLine(approversText(upload.approvers, names))}`,
  )
  return [printableLine(upload.file_name), ...done].join(', ')
}

function rowsWritten({ promotion_totals }: Upload): number {
  return Object.values(promotion_totals ?? {}).reduce(
    (sum, { insert = 0, update = 0 }) => sum + insert + update,
    0,
  )
}

export const downstreamCommand = () =>
  uploadVerb(
    'downstream',
    'jobs and executions that follow from its promotion, and who is told of an undo',
  ).run(async ({ output, transaction }, id) => {
    const found = await transaction(async (client) => {
      const { upload_id } = await requireUpload(client, id)
      return readDownstream(client, upload_id)
    })
    const { jobs, executions, told_of_undo, cut } = found
    output.result(found, () => {
      if (jobs.length + executions.length === 0) output.line('Nothing follows from it so far.')
      for (const { job_kind, status, count } of jobs)
        output.line(`${plural(count, 'job')} ${pc.bold(job_kind)}: ${status}`)
      for (const { execution_id, playbook, status } of executions)
        output.line(`execution ${execution_id} of ${pc.bold(playbook ?? '?')}: ${status.toLowerCase()}`)
      if (cut) output.dim('  … and more.')
      for (const { consumer_id, job_kind } of told_of_undo)
        output.line(`An undo makes a job ${pc.bold(job_kind)} (consumer ${consumer_id}).`)
      if (told_of_undo.length === 0) output.dim('No consumer is told of an undo.')
    })
  })
