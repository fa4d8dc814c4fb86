import { Command } from 'commander'
import pc from 'picocolors'
import { uploadLineage } from '../../../ingest/promotion.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { table } from '../../output.ts'
import { count } from './layout.ts'
import { withSession } from './session.ts'

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
      const { upload, rows } = await withSession(options, { upload: id }, ({ act }) =>
        act(async (client) => ({
          upload: await requireUpload(client, id),
          rows: await uploadLineage(client, id, {
            limit: options.limit,
            ...(options.after !== undefined && { after: options.after }),
          }),
        })),
      )
      const last = rows.at(-1)
      const next = last && rows.length === options.limit ? `${last.type_order}.${last.line}` : null
      output.result({ rows, next }, () => {
        if (rows.length === 0) return output.line('It has written nothing.')
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
