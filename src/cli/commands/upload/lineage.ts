import { Command } from 'commander'
import pc from 'picocolors'
import { uploadLineage } from '../../../ingest/promotion.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { age, prose, table, visibleLine } from '../../output.ts'
import { count } from './layout.ts'
import { type Names, withSession } from './session.ts'

const PAGE = 50

export function lineageOfUploadCommand(): Command {
  return new Command('lineage')
    .description('which rows of which tables an upload wrote, line by line')
    .argument('<id>', 'of the upload', uploadId)
    .option('--limit <n>', 'how many', whole(1, 1000), PAGE)
    .option('--after <row>', 'the page after this row')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { limit: number; after?: string }>()
      const output = outputOf(options)
      const { upload, rows, names } = await withSession(options, { upload: id }, async (session) => {
        const found = await session.act(async (client) => ({
          upload: await requireUpload(client, id),
          rows: await uploadLineage(client, id, {
            limit: options.limit,
            ...(options.after !== undefined && { after: options.after }),
          }),
        }))
        return { ...found, names: await session.names(found.upload.workspace_id) }
      })
      const last = rows.at(-1)
      const next = last && rows.length === options.limit ? `${last.type_order}.${last.line}` : null
      const { approved_by, approved_at, promoted_by, promoted_at } = upload
      output.result({ approved_by, approved_at, promoted_by, promoted_at, rows, next }, () => {
        if (rows.length === 0) return output.line('It has written nothing.')
        output.line(`${prose(originOf(upload, names))}\n`)
        output.line(
          table(
            [
              ['line', 'table', 'row', '', ''],
              ...rows.map((row) => [
                String(row.line),
                row.target,
                row.target_id ?? JSON.stringify(row.target_key),
                row.action === 'insert' ? 'new' : 'changed',
                row.undo_outcome === null
                  ? ''
                  : row.undo_outcome === 'reversed'
                    ? 'taken back'
                    : (row.undo_reason ?? row.undo_outcome),
              ]),
            ],
            (cell, column, line) => (line === 0 || column > 2 ? pc.dim(cell) : cell),
          ),
        )
        if (next) {
          output.line(pc.dim(`\n  ${count(rows.length)} of ${count(writtenBy(upload))} rows`))
          output.line(pc.dim(`  More: ${moreOf(id, options)} --after ${next}`))
        }
      })
    })
}

/** week.csv, approved by Reviewer 2 min ago, promoted by Operator 1 min ago */
function originOf(upload: Upload, names: Names): string {
  const deeds = [
    ['approved', upload.approved_by, upload.approved_at],
    ['promoted', upload.promoted_by, upload.promoted_at],
    ['undone', upload.undone_by, upload.undone_at],
  ] as const
  const done = deeds.flatMap(([what, who, when]) =>
    who === null || when === null ? [] : [`${what} by ${visibleLine(names(who))} ${age(when)} ago`],
  )
  if (upload.approved_at === null) done.unshift('no approval was asked for')
  return [visibleLine(upload.file_name), ...done].join(', ')
}

function writtenBy({ promotion_totals }: Upload): number {
  return Object.values(promotion_totals ?? {}).reduce(
    (sum, { insert = 0, update = 0 }) => sum + insert + update,
    0,
  )
}

/** The same view: pasted, it goes on where this page ended. */
function moreOf(id: string, { as, user, limit }: ActingOptions & { limit: number }): string {
  const chosen = { as, user, limit: limit === PAGE ? undefined : limit }
  const words = Object.entries(chosen).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name} ${value}`,
  )
  return ['stagedoor upload lineage', id, ...words].join(' ')
}
