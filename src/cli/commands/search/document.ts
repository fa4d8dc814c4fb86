/** The old knowledge base on the command line: documents that are searched as they are, beside units. */
import { basename } from 'node:path'
import { Command } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../../../errors.ts'
import {
  putDocument,
  removeDocument,
  type SearchedDocument,
  searchedDocuments,
} from '../../../search/documents.ts'
import { decodeUtf8 } from '../../../staging/exact-json.ts'
import { outputOf } from '../../context.ts'
import { whole } from '../../numbers.ts'
import { bytes, table } from '../../output.ts'
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
  for (const command of [addCommand(), listCommand(), removeCommand()]) document.addCommand(command)
  return document
}

interface AddOptions extends SearchOptions {
  readonly title?: string
  readonly language: string
  readonly sourceRef?: string
}

function addCommand(): Command {
  return new Command('add')
    .description('take a document into search, or bring it up to date')
    .argument('<file>', 'its text; - for standard input')
    .option('--title <text>', 'default: its first heading or line')
    .option('--language <code>', 'of its text', 'en')
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
      const body = decodeUtf8((await givenBytes(file))!, file)
      const source_ref = options.sourceRef ?? (file === '-' ? 'standard input' : basename(file))
      const title = options.title ?? titleOf(body, source_ref)
      const document_id = await searching(options, ({ transaction, workspace }) =>
        transaction((client) =>
          putDocument(client, workspace, { source_ref, title, body, language: options.language }),
        ),
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

function removeCommand(): Command {
  return new Command('remove')
    .description('take a document out of search; units that were cut from it stay')
    .argument('<document>', 'its id, or where it comes from')
    .option('--workspace <id or name>', 'default: the only one there is')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const output = outputOf(options)
      const document_id = await searching(options, async ({ pool, transaction, workspace }) => {
        const { rows } = await pool.query<{ document_id: string }>(
          `select document_id from iu_core.kb_document
            where workspace_id = $1 and origin = 'knowledge_base' and deleted_at is null and $2 in (document_id::text, source_ref)`,
          [workspace, name],
        )
        if (!rows[0])
          throw new StagedoorError(
            'document_unknown',
            { document: name },
            { hint: '`stagedoor search document list` shows them.' },
          )
        const id = rows[0].document_id
        await transaction((client) => removeDocument(client, id))
        return id
      })
      output.result({ document_id }, () => output.line(`${pc.green('✔')} It leaves search within a minute.`))
    })
}
