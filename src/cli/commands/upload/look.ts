import { Command, Option } from 'commander'
import pc from 'picocolors'
import {
  listUploads,
  requireUpload,
  UPLOAD_STATUSES,
  type Upload,
  type UploadStatus,
} from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, userOption, workspaceOf } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { whole } from '../../numbers.ts'
import { age, type Output, table } from '../../output.ts'
import { count, screenWidth, shortened } from './layout.ts'
import { nextSteps, printNext } from './next-step.ts'
import { type Names, type Session, withSession } from './session.ts'
import {
  factsOf,
  heading,
  paintState,
  printNotes,
  printTotals,
  type Surroundings,
  stateOf,
  stepLines,
  surroundingsOf,
  wrongSaid,
} from './summary.ts'

interface ListOptions extends ActingOptions {
  readonly workspace?: string
  readonly status?: UploadStatus[]
  readonly waiting?: boolean
  readonly limit: number
  readonly after?: string
}

export function listCommand(): Command {
  return new Command('list')
    .description('uploads, newest first')
    .option('--workspace <id or name>', 'only these')
    .addOption(new Option('--status <status...>', 'only these').choices(UPLOAD_STATUSES))
    .option('--waiting', 'only those that wait for a decision')
    .option('--limit <n>', 'how many', whole(1, 1000), 20)
    .option('--after <id>', 'the page after this upload', uploadId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const output = outputOf(options)
      const scope = options.workspace === undefined ? {} : { workspace: options.workspace }
      const uploads = await withSession(options, scope, ({ act }) =>
        act(async (client) =>
          listUploads(client, {
            limit: options.limit,
            waiting: options.waiting === true,
            ...(options.workspace !== undefined && {
              workspace_id: await workspaceOf(client, options.workspace),
            }),
            ...(options.status && { status: options.status }),
            ...(options.after !== undefined && { after: options.after }),
          }),
        ),
      )
      output.result(uploads, () => {
        if (uploads.length === 0) {
          return output.line(
            'No upload here. `stagedoor ingest FILE --dataset ads --platform meta` brings one.',
          )
        }
        output.line(uploadTable(uploads))
      })
    })
}

function uploadTable(uploads: readonly Upload[]): string {
  // In a narrow window the table shows the beginning of an id.
  const room = screenWidth() - (screenWidth() < 100 ? 13 : 36) - 4 * 2
  const rows = uploads.map((upload) => [
    upload.upload_id,
    stateOf(upload),
    upload.file_name,
    upload.line_count === null
      ? '–'
      : `${count(upload.line_count)}${upload.invalid_count ? ` (${wrongSaid(upload)})` : ''}`,
    age(upload.created_at),
  ])
  const others = [1, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]!.length), 5))
  const name = Math.max(10, room - others.reduce((sum, width) => sum + width, 0))
  return table(
    [
      ['id', 'state', 'file', 'lines', 'age'],
      ...rows.map((row) => row.map((cell, column) => (column === 2 ? shortened(cell, name) : cell))),
    ],
    (cell, column, row) => (row === 0 ? pc.dim(cell) : column === 1 ? paintState(cell) : cell),
  )
}

export interface Shown extends Surroundings {
  readonly upload: Upload
  readonly names: Names
  readonly external: boolean
}

export async function look(session: Session, id: string): Promise<Shown> {
  const { upload, ...around } = await session.act(async (client) => {
    const upload = await requireUpload(client, id)
    return { upload, ...(await surroundingsOf(client, upload)) }
  })
  return { upload, ...around, names: await session.names(upload.workspace_id), external: session.external }
}

export function showCommand(): Command {
  return new Command('show')
    .description('where an upload stands, what its plan would change, what to do next')
    .argument('<id>', 'of the upload', uploadId)
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions>()
      const output = outputOf(options)
      const shown = await withSession(options, { upload: id }, (session) => look(session, id))
      output.result(shown.upload, () => {
        printUpload(output, shown)
        output.line()
        output.line(
          table(
            factsOf(shown.upload, shown.names).map(([name, value]) => [`  ${name}`, value]),
            dimName,
          ),
        )
        printNext(output, nextSteps(shown.upload, { ...options, external: shown.external }))
      })
    })
}

function dimName(cell: string, column: number): string {
  return column === 0 ? pc.dim(cell) : cell
}

export function printUpload(output: Output, { upload, names, ...around }: Shown): void {
  output.line(`${paintState(stateOf(upload))}  ${heading(upload, around)}`)
  output.line()
  for (const line of stepLines(upload, names)) output.line(line)
  printNotes(output, upload)
  printTotals(output, upload, around.dataset?.definition)
}

/** After a command changed something: the same screen, without what has not changed. */
export function printChange(
  output: Output,
  shown: Shown,
  options: ActingOptions,
  done: string,
  good = true,
): void {
  output.line(`${good ? pc.green('✔') : pc.yellow('●')} ${done}`)
  output.line()
  for (const line of stepLines(shown.upload, shown.names)) output.line(line)
  printTotals(output, shown.upload, shown.dataset?.definition)
  printNext(output, nextSteps(shown.upload, { ...options, external: shown.external }))
}
