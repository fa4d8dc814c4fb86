import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import { exportProblems, type LeftOutLine, leftOutSaid, listLeftOut, listRows } from '../../../ingest/rows.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { type ActingOptions, asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { uploadId } from '../../ids.ts'
import { visibleLine } from '../../output.ts'
import { count, lines, screenWidth, wrap } from './layout.ts'
import { nameOf } from './next-step.ts'
import { problemsOf, problemTable } from './problem-table.ts'
import { type Session, withSession } from './session.ts'

const FIRST_LINES = 20
const PAGE = 1000

export function problemsCommand(): Command {
  return new Command('problems')
    .description('what is wrong with which line, and what to do about it')
    .argument('<id>', 'of the upload', uploadId)
    .option('--all', `all of them, not only those of the first ${FIRST_LINES} lines`)
    .option('--left-out', 'the lines that are left out instead, each with its reason and its figures')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { all?: boolean; leftOut?: boolean }>()
      const output = outputOf(options)
      if (options.leftOut) return printLeftOut(id, options)
      const { upload, problems } = await withSession(options, { upload: id }, ({ act }) =>
        act(async (client) => {
          const upload = await requireUpload(client, id)
          return {
            upload,
            problems: await problemsOf(client, upload, options.all ? Number.POSITIVE_INFINITY : FIRST_LINES),
          }
        }),
      )
      output.result(problems, () => {
        if (problems.length === 0) return output.line(nothingWrong(upload))
        output.line(problemTable(problems))
        const shown = new Set(problems.map(({ line }) => line)).size
        const wrong = upload.invalid_count ?? 0
        output.line(
          pc.dim(
            `\n  ${lines(wrong)} wrong, ${count(upload.warning_count)} with a warning; ${lines(shown)} shown`,
          ),
        )
        if (shown >= FIRST_LINES && !options.all) output.line(pc.dim('  --all shows all of them'))
        if (upload.skipped_count)
          output.line(pc.dim(`  ${leftOutSaid(upload.left_out)}: --left-out lists them`))
      })
    })
}

async function printLeftOut(id: string, options: ActingOptions & { all?: boolean }): Promise<void> {
  const output = outputOf(options)
  const { upload, found } = await withSession(options, { upload: id }, ({ act }) =>
    act(async (client) => {
      const upload = await requireUpload(client, id)
      const found: LeftOutLine[] = []
      for (;;) {
        const after = found.at(-1)?.line
        const limit = options.all ? PAGE : FIRST_LINES
        const page = await listLeftOut(client, id, { limit, ...(after !== undefined && { after }) })
        found.push(...page)
        if (page.length < PAGE || !options.all) return { upload, found }
      }
    }),
  )
  output.result({ left_out: upload.left_out, lines: found }, () => {
    if (found.length === 0) return output.line(`${pc.green('✔')} No line is left out.`)
    for (const { line, message, values } of found) {
      output.line(`  ${String(line).padStart(8)}  ${visibleLine(message)}`)
      const said = Object.entries(values).map(([name, value]) => `${name} ${value}`)
      for (const text of wrap(said.join(' · '), screenWidth() - 12))
        output.line(pc.dim(`            ${text}`))
    }
    output.line(pc.dim(`\n  ${leftOutSaid(upload.left_out)}; ${lines(found.length)} shown`))
    if (found.length < (upload.skipped_count ?? 0)) output.line(pc.dim('  --all shows all of them'))
  })
}

function nothingWrong({ status }: Upload): string {
  return ['reading', 'failed'].includes(status)
    ? `The upload is ${status}: no line was checked.`
    : `${pc.green('✔')} Nothing is wrong with any line that is still held.`
}

export function exportCommand(): Command {
  return new Command('export')
    .description('the wrong lines as a CSV file, with what is wrong beside each')
    .argument('<id>', 'of the upload', uploadId)
    .option('-o, --output <file>', 'where to; default: standard output')
    .option('--left-out', 'the lines that are left out instead, with the reason beside each')
    .addOption(asOption())
    .addOption(userOption())
    .addHelpText(
      'after',
      `
Correct the cells in a spreadsheet and bring them in: stagedoor upload fix <id> --file <file>.
The column "Stagedoor: line" says which line a correction belongs to; leave it as it is.`,
    )
    .action(async (id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & { output?: string; leftOut?: boolean }>()
      const output = outputOf(options)
      const { exported, external } = await withSession(options, { upload: id }, async (session) => ({
        exported: await exportTo(session, id, options.output, options.leftOut ? 'skipped' : 'invalid'),
        external: session.external,
      }))
      if (options.output === undefined) return
      output.result({ upload_id: id, file: options.output, lines: exported }, () => {
        output.line(`${pc.green('✔')} ${lines(exported)} written to ${options.output}`)
        output.line(`\n${pc.bold('Next')}\n  Correct the cells, save it, and bring it in`)
        output.line(
          `    ${pc.cyan(`stagedoor upload fix ${id} --file ${quoted(options.output!)}${nameOf({ ...options, external })}`)}`,
        )
      })
    })
}

async function exportTo(
  session: Session,
  id: string,
  file: string | undefined,
  status: 'invalid' | 'skipped',
): Promise<number> {
  const upload = await session.act((client) => requireUpload(client, id))
  const { reading } = upload
  if (!reading)
    throw new StagedoorError('upload_state', { upload: id, status: upload.status, action: 'exported' })
  // Loaded here, like everything that brings DuckDB: the other commands start without it.
  const { rawKeys } = await import('../../../ingest/datasets/compile/payload.ts')
  let exported = 0
  // A page a transaction: a reader like `less` may take hours.
  const page = async (after: number) => {
    const rows = await session.act((client) =>
      listRows(client, id, { row_type: reading.layout.leaf, status, limit: PAGE, after }),
    )
    exported += rows.length
    return rows
  }
  await writeAll(exportProblems(page, rawKeys(reading.headers)), file)
  return exported
}

async function writeAll(texts: AsyncIterable<string>, file: string | undefined): Promise<void> {
  if (file === undefined) {
    for await (const text of texts) await write(process.stdout, text)
    return
  }
  const stream = createWriteStream(file)
  const failed = once(stream, 'error').then(([cause]) => {
    const reason = `${file} cannot be written: ${(cause as Error).message}`
    throw new StagedoorError('argument_invalid', { reason }, { cause })
  })
  const written = (async () => {
    await once(stream, 'open')
    for await (const text of texts) await write(stream, text)
    stream.end()
    await once(stream, 'finish')
  })()
  await Promise.race([written, failed])
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text) && !stream.destroyed)
    await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}

function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
