/** The old knowledge base on the command line: documents that are searched as they are, beside units. */
import { basename } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import type { Pool } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import {
  putDocument,
  removeDocument,
  type SearchedDocument,
  searchedDocuments,
} from '../../../search/documents.ts'
import { decodeUtf8 } from '../../../staging/exact-json.ts'
import { readDocument } from '../../../units/documents.ts'
import { readFrontMatter } from '../../../units/marking/front-matter.ts'
import { asOption, userOption } from '../../acting.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { bytes, table, visible, visibleLine } from '../../output.ts'
import { whenIs } from '../../times.ts'
import { fitted } from '../unit/screen.ts'
import { givenBytes } from '../unit/text.ts'
import { printNext } from '../upload/next-step.ts'
import { paintFreshness } from './screen.ts'
import { type SearchOptions, searching } from './session.ts'

export function documentCommand(): Command {
  const document = new Command('document').description(
    'documents of the old knowledge base: searched as they are, beside units',
  )
  for (const command of [addCommand(), listCommand(), showCommand(), removeCommand()])
    document.addCommand(command)
  return document
}

interface AddOptions extends SearchOptions {
  readonly title?: string
  readonly language?: string
  readonly sourceRef?: string
}

function addCommand(): Command {
  return new Command('add')
    .description('take a document into search, or bring it up to date')
    .argument('<file>', 'its text; - for standard input')
    .option('--title <text>', 'default: as its front matter says, or its first heading or line')
    .option('--language <code>', 'of its text; default: as its front matter says, or en')
    .option(
      '--source-ref <ref>',
      'where it comes from: under it, it is the same document; default: the file’s name',
    )
    .option('--workspace <id or name>', 'default: the only one there is')
    .addHelpText(
      'after',
      '\nTo work with its parts one by one, cut it into units instead: `stagedoor mark FILE`.',
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<AddOptions>()
      const output = outputOf(options)
      const given = readText(decodeUtf8((await givenBytes(file))!, file))
      const { body } = given
      const language = options.language ?? given.language ?? 'en'
      const source_ref = options.sourceRef ?? (file === '-' ? 'standard input' : basename(file))
      const title = options.title ?? given.title ?? titleOf(body, source_ref)
      const document_id = await searching(options, ({ transaction, workspace }) =>
        transaction((client) => putDocument(client, workspace, { source_ref, title, body, language })),
      )
      output.result({ document_id, source_ref, title }, () => {
        output.line(
          `${pc.green('✔')} ${pc.bold(title)} ${pc.dim(source_ref)}, ${bytes(Buffer.byteLength(body))}`,
        )
        printNext(output, [
          { what: 'It is in search in about two minutes, or at once', command: 'stagedoor search now' },
        ])
      })
    })
}

/** What it says of itself between `---` lines is no text of it. */
function readText(text: string): { body: string; title?: string; language?: string } {
  const [block] = /^---[ \t]*\r?\n(?:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  if (block === undefined) return { body: text }
  const { title, language } = readFrontMatter(block)
  const body = text.slice(block.length).replace(/^\s*\n/, '')
  // A line at the beginning and at the end of a text is no front matter.
  if ((title ?? language) === undefined || body.trim() === '') return { body: text }
  return { body, ...(title !== undefined && { title }), ...(language !== undefined && { language }) }
}

function titleOf(body: string, otherwise: string): string {
  const line = body.split('\n').find((one) => /\S/.test(one))
  const title = line?.replace(/^#+\s*/, '').trim()
  return title ? [...title].slice(0, 120).join('') : otherwise
}

function listCommand(): Command {
  return new Command('list')
    .description('documents that are searched, by where they come from')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option('--limit <n>', 'how many', whole(1, 1000), 50)
    .option('--after <source-ref>', 'the page after this one')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions & { limit: number; after?: string }>()
      const output = outputOf(options)
      const { limit, after } = options
      const documents = await searching(options, ({ pool, workspace }) =>
        searchedDocuments(pool, workspace, { limit, ...(after !== undefined && { after }) }),
      )
      output.result(documents, () => {
        if (documents.length === 0) {
          output.line(
            after === undefined
              ? 'There is no old knowledge base here: units are searched alone.'
              : 'No document is left.',
          )
          return printNext(
            output,
            after === undefined
              ? [{ what: 'Add a document', command: 'stagedoor search document add FILE' }]
              : [],
          )
        }
        output.line(documentTable(documents))
        if (documents.length === limit)
          output.line(pc.dim(`\nThe page after it: --after ${documents.at(-1)!.source_ref}`))
      })
    })
}

function documentTable(documents: readonly SearchedDocument[]): string {
  const rows = fitted([
    ['from', 'search', 'units', 'size', 'changed', 'title'],
    ...documents.map((one) => [
      one.source_ref,
      one.freshness,
      String(one.units),
      bytes(one.bytes),
      whenIs(one.updated_at),
      one.title,
    ]),
  ])
  return table(rows, (cell, column, row) => {
    if (row === 0) return pc.dim(cell)
    return column === 1 ? cell.replace(cell.trim(), paintFreshness(cell.trim())) : cell
  })
}

function showCommand(): Command {
  return new Command('show')
    .description('what a document says, as search has it')
    .argument('<document>', 'its id, or where it comes from')
    .option('--workspace <id or name>', 'default: the only one there is')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const output = outputOf(options)
      const document = await searching(options, async ({ pool, transaction, workspace }) => {
        const id = await documentNamed(pool, workspace, name)
        return transaction((client) => readDocument(client, id))
      })
      output.result(document, () => {
        output.line(`${pc.bold(visibleLine(document.title))}  ${pc.dim(visibleLine(document.source_ref))}`)
        output.line()
        output.line(visible(document.body))
      })
    })
}

async function documentNamed(pool: Pool, workspace: string, name: string): Promise<string> {
  const { rows } = await pool.query<{ document_id: string }>(
    `select document_id from iu_core.kb_document
      where workspace_id = $1 and origin = 'knowledge_base' and deleted_at is null and $2 in (document_id::text, source_ref)`,
    [workspace, name],
  )
  if (rows[0]) return rows[0].document_id
  throw new StagedoorError(
    'document_unknown',
    { document: name },
    { hint: '`stagedoor search document list` shows them.' },
  )
}

function removeCommand(): Command {
  return new Command('remove')
    .description('take a document out of search; units that were cut from it stay')
    .argument('<document>', 'its id, or where it comes from')
    .option('--workspace <id or name>', 'default: the only one there is')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const output = outputOf(options)
      const document_id = await searching(options, async ({ pool, transaction, workspace }) => {
        const id = await documentNamed(pool, workspace, name)
        await transaction((client) => removeDocument(client, id))
        return id
      })
      output.result({ document_id }, () => output.line(`${pc.green('✔')} It leaves search within a minute.`))
    })
}
