/**
 * `stagedoor dataset map`: what the headers and values of files mean. With a file it shows which column is which field, asks about
 * what is uncertain, and remembers the answers for the next files of the workspace. The flags that answer are those of `ingest`.
 */
import { stat } from 'node:fs/promises'
import pc from 'picocolors'
import {
  type KnownMapping,
  type Mapping,
  type MappingTarget,
  readMapping,
  updateMapping,
} from '../ingest/datasets/mapping.ts'
import { resolvePlatform } from '../ingest/datasets/registry.ts'
import type { MappingPreview, PreviewColumn } from '../ingest/mapping-shapes.ts'
import { forgetReadOptions, listReadOptions, type ReadOptionsMemory } from '../ingest/read-options.ts'
import { previewSource } from '../ingest/source-preview.ts'
import type { FileOptions } from '../ingest/stage.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import {
  argumentInvalid,
  collect,
  DELIMITER,
  HEADER_LINE,
  parseSetting,
  rethrowUnreadable,
} from './arguments.ts'
import { command } from './command.ts'
import { plural, shellWord } from './format.ts'
import { withFlag, workspaceOf } from './session.ts'
import { ask, canAsk, formatTable, type Output } from './terminal.ts'
import { printableLine } from './text.ts'

/** Where nothing was answered: the command says what is open, and a person has to answer. */
const OPEN_EXIT_CODE = 5

export const SET_HEADER = [
  '--set <header=field>',
  'this header means that field; "Header=" ignores the column',
  collect(parseSetting(/^(.+)=([^=]*)$/s, '--set', '"Header=field"')),
  [] as string[][],
] as const
export const IGNORE_HEADER = [
  '--ignore <header>',
  'ignore the column with this header',
  collect(String),
  [] as string[],
] as const
export const SET_VALUE = [
  '--value <field:text=value>',
  'this text in that field means that value',
  collect(parseSetting(/^([^:]+):(.*)=([^=]*)$/s, '--value', '"field:text=value"')),
  [] as string[][],
] as const

export interface MappingFlags {
  readonly set: readonly string[][]
  readonly ignore: readonly string[]
  readonly value: readonly string[][]
}

/** What the flags say about headers and values. */
export function mappingOfFlags({ set, ignore, value }: MappingFlags): Mapping {
  const headers: Record<string, string | null> = {}
  for (const [header, field] of set) headers[header!] = field || null
  for (const header of ignore) headers[header] = null
  const field_values: Record<string, Record<string, string | null>> = {}
  for (const [field, text, meaning] of value)
    field_values[field!] = { ...field_values[field!], [text!]: meaning || null }
  return { headers, field_values }
}

export const mapCommand = () =>
  command('map', 'say what headers and values of your files mean, for the next files of the workspace')
    .argument('<name>', 'of the dataset')
    .argument('[file]', 'shows its columns and asks about what is uncertain')
    .option('--platform <name>', 'whose files; default: the only one of the dataset')
    .workspace()
    .option(...SET_HEADER)
    .option(...IGNORE_HEADER)
    .option(...SET_VALUE)
    .option('--forget <header>', 'delete what was said about this header', collect(String), [])
    .option(
      '--forget-value <field:text>',
      'delete what was said about this text in that field',
      collect(parseSetting(/^([^:]+):(.*)$/s, '--forget-value', '"field:text"')),
      [],
    )
    .option(
      '--forget-options',
      'delete how your files are to be read, as `ingest --remember-options` kept it',
    )
    .option('--yes', 'of a file: accept what is sure or likely, ask nothing')
    .option('--no-remember', 'of a file: only print the options for `ingest`, remember nothing')
    .option('--encoding <name>', 'of a file that is not UTF-8')
    .option(...DELIMITER)
    .option('--columns <names>', 'of a file without a header, in order: name,name,…')
    .option(...HEADER_LINE)
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .actor({ backEndRole: 'service_role' })
    .examples(
      `  $ stagedoor dataset map products products.xlsx
  $ stagedoor dataset map products products.xlsx --set "Art.-Nr.=sku" --ignore Remark --value "status:lieferbar=active"
  $ stagedoor dataset map products                                # what is remembered

Outside of a terminal nothing is asked: it prints what is open with the options that answer it, and ends with 5.`,
    )
    .run(async (session, dataset, file) => {
      const { options, output, transaction, config } = session
      const given = mappingOfFlags(options)
      const target = await transaction(async (client) => {
        const workspaceId = await workspaceOf(client, options.workspace)
        const platform = await withFlag(resolvePlatform(client, workspaceId, dataset, options.platform))
        return { workspaceId, dataset, platform }
      })
      const forget = {
        headers: options.forget,
        field_values: Object.fromEntries(
          options.forgetValue.map(([field]) => [
            field!,
            options.forgetValue.filter(([other]) => other === field).map(([, text]) => text!),
          ]),
        ),
      }
      const remember = (mapping: Mapping): Promise<KnownMapping> =>
        transaction(async (client) => {
          await updateMapping(client, target, { ...mapping, forget })
          return readMapping(client, target)
        })
      if (options.forgetOptions) {
        const forgotten = await transaction((client) => forgetReadOptions(client, target))
        output.done(
          `Forgot how ${plural(forgotten, 'kind')} of files ${forgotten === 1 ? 'is' : 'are'} to be read`,
        )
      }
      const readOptions = () => transaction((client) => listReadOptions(client, target))
      if (file === undefined) {
        if (options.yes || !options.remember) throw argumentInvalid('--yes and --no-remember need a file')
        const isChange = [given.headers, given.field_values, forget.field_values].some(hasEntries)
        const changed = isChange || forget.headers.length > 0
        const mapping = changed
          ? await remember(given)
          : await transaction((client) => readMapping(client, target))
        const read_options = await readOptions()
        return output.result({ ...mapping, read_options }, () => {
          if (changed)
            output.done('Saved for the next files; upload a file once more to read it with this mapping')
          printMapping(output, mapping)
          printReadOptions(output, read_options)
        })
      }
      await stat(file).catch(rethrowUnreadable(file))
      const reading = await readingOf(options)
      const preview = ({ headers, field_values }: Mapping) =>
        previewSource({ home: config.home }, { transaction }, file, {
          ...target,
          file: { ...reading, headers, values: field_values },
        })
      const asks = !options.yes && !output.json && canAsk()
      const answered = await answer({
        given,
        preview,
        yes: options.yes === true,
        ask: asks ? ask : undefined,
        output,
      })
      const isSaid = hasEntries(answered.mapping.headers) || hasEntries(answered.mapping.field_values)
      const isForgotten = forget.headers.length > 0 || hasEntries(forget.field_values)
      const isRemembered =
        options.remember && (isForgotten || (isSaid && (!asks || (await confirmsMemory()))))
      if (isRemembered) await remember(answered.mapping)
      const { mapping, preview: last } = answered
      output.result({ preview: last, ...mapping, remembered: isRemembered }, () =>
        printAnswered(output, { file, target, mapping, last, isRemembered }),
      )
      if (openQuestions(last).length > 0) process.exitCode = OPEN_EXIT_CODE
    })

interface ReadingFlags {
  readonly encoding?: string
  readonly delimiter?: string
  readonly columns?: string
  readonly headerLine?: number
  readonly sheet?: string
}

/** How a file is read, where it does not say so itself. */
export async function readingOf({
  encoding,
  delimiter,
  columns,
  headerLine,
  sheet,
}: ReadingFlags): Promise<FileOptions> {
  const { columnNames } = await import('../ingest/readers/format.ts')
  return omitUndefined({
    encoding: encoding as FileOptions['encoding'],
    delimiter,
    columns: columns === undefined ? undefined : columnNames(columns),
    headerLine,
    sheet,
  })
}

async function confirmsMemory(): Promise<boolean> {
  return !/^no?$/i.test((await ask('Remember this for the next files of the workspace [Y/n]')).trim())
}

function hasEntries(of: object): boolean {
  return Object.keys(of).length > 0
}

interface Answering {
  readonly given: Mapping
  preview(answers: Mapping): Promise<MappingPreview>
  readonly yes: boolean
  /** Absent: nothing is asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined
  readonly output: Pick<Output, 'line' | 'heading' | 'dim'>
}

/**
 * From what the flags say to what holds. With --yes every proposal is accepted; in a terminal those that are sure, and the others
 * as they are answered. Elsewhere nobody has confirmed anything but the flags.
 */
export async function answer({ given, preview, yes, ask, output }: Answering): Promise<{
  /** What a person said or accepted. */
  mapping: Mapping
  preview: MappingPreview
}> {
  const first = await preview(given)
  printColumns(output, first)
  if (!yes && !ask) return { mapping: given, preview: first }
  const isAccepted = ({ certainty }: PreviewColumn) =>
    certainty === 'sure' || (yes && certainty !== 'uncertain')
  const proposed = first.columns.filter(isProposal)
  const accepted = proposed.filter(isAccepted).map(({ header, field }) => [header, field!] as const)
  const uncertain = proposed.filter((column) => !isAccepted(column))
  const asked = ask ? await askColumns(first, uncertain, ask, output) : {}
  const headers = { ...given.headers, ...Object.fromEntries(accepted), ...asked }
  const second = await preview({ ...given, headers })
  const values = ask ? await askValues(second, ask, output) : proposedValues(second)
  const mapping = { headers, field_values: mergeFields(given.field_values, values) }
  return { mapping, preview: await preview(mapping) }
}

function isProposal({ field, by }: PreviewColumn): boolean {
  return field !== null && (by === 'likeness' || by === 'content')
}

async function askColumns(
  preview: MappingPreview,
  uncertain: readonly PreviewColumn[],
  ask: NonNullable<Answering['ask']>,
  output: Answering['output'],
): Promise<Record<string, string | null>> {
  const answers: Record<string, string | null> = {}
  const fields = new Map(preview.fields.map(({ field }) => [field.toLowerCase(), field]))
  if (uncertain.length > 0)
    output.dim('\nEnter accepts, a field’s name takes that one, - ignores the column, n decides nothing.')
  for (const { header, field, examples } of uncertain) {
    const shown = examples.slice(0, 3).map(printableLine).join(', ')
    for (;;) {
      const reply = (await ask(`“${printableLine(header)}” (${shown}) is [${field}]`)).trim()
      if (/^no?$/i.test(reply)) break
      if (reply === '-') answers[header] = null
      else if (reply === '' || /^y(es)?$/i.test(reply)) answers[header] = field
      else if (fields.has(reply.toLowerCase())) answers[header] = fields.get(reply.toLowerCase())!
      else {
        output.line(`There is no field ${printableLine(reply)}; there are ${[...fields.values()].join(', ')}`)
        continue
      }
      break
    }
  }
  const free = preview.columns.filter(({ field, header }) => field === null || answers[header] === null)
  for (const { field, title } of preview.fields.filter(({ missing }) => missing)) {
    for (;;) {
      const reply = (await ask(`The column of ${title} (Enter: none)`)).trim()
      if (reply === '') break
      const found = free.find(({ header }) => header.toLowerCase() === reply.toLowerCase())
      if (found) {
        answers[found.header] = field
        break
      }
      const names = free.map(({ header }) => `“${printableLine(header)}”`).join(', ')
      output.line(`No free column is called ${printableLine(reply)}; there are ${names || 'none'}`)
    }
  }
  return answers
}

async function askValues(
  { values }: MappingPreview,
  ask: NonNullable<Answering['ask']>,
  output: Answering['output'],
): Promise<Record<string, Record<string, string | null>>> {
  const answers: Record<string, Record<string, string | null>> = {}
  for (const { field, title, unknown, choices } of values.filter(({ severity }) => severity === 'error')) {
    if (choices.length > 0) output.dim(`\n${title} may be ${choices.join(', ')}; - takes no value`)
    for (const { value, lines, proposal } of unknown) {
      const meant = proposal === null ? '(Enter: decide later)' : `[${printableLine(proposal)}]`
      const question = `${title}: “${printableLine(value)}” (${plural(lines, 'line')}) means ${meant}`
      const reply = (await ask(question)).trim()
      if (reply === '' && proposal === null) continue
      answers[field] = { ...answers[field], [value]: reply === '-' ? null : reply || proposal }
    }
  }
  return answers
}

function proposedValues({ values }: MappingPreview): Record<string, Record<string, string | null>> {
  return Object.fromEntries(
    values.flatMap(({ field, unknown }) => {
      const known = unknown.filter(({ proposal }) => proposal !== null)
      return known.length === 0
        ? []
        : [[field, Object.fromEntries(known.map(({ value, proposal }) => [value, proposal]))]]
    }),
  )
}

function mergeFields(
  left: Mapping['field_values'],
  right: Mapping['field_values'],
): Record<string, Record<string, string | null>> {
  const fields = new Set([...Object.keys(left), ...Object.keys(right)])
  return Object.fromEntries([...fields].map((field) => [field, { ...left[field], ...right[field] }]))
}

// What is printed.

const CERTAINTY_MARKS: Record<PreviewColumn['certainty'], string> = {
  sure: 'sure',
  likely: 'likely',
  uncertain: 'uncertain',
  none: 'not used',
}

function printColumns(output: Pick<Output, 'line'>, { columns }: Pick<MappingPreview, 'columns'>): void {
  const rows = columns.map((column) => [
    column.header,
    column.ignored ? '(ignored)' : (column.field ?? '–'),
    column.ignored ? 'sure' : CERTAINTY_MARKS[column.certainty],
    column.examples.slice(0, 3).join(', '),
  ])
  const paint = (cell: string, at: number, row: number) => {
    if (row === 0 || at === 3) return pc.dim(cell)
    if (at !== 2) return cell
    const word = cell.trim()
    return word === 'sure' ? pc.green(cell) : word === 'not used' ? pc.dim(cell) : pc.yellow(cell)
  }
  output.line(formatTable([['their header', 'field', 'certainty', 'examples'], ...rows], paint))
}

interface OpenQuestion {
  readonly what: string
  /** The option that answers it. */
  readonly flag: string
}

/** What a person has to answer before the file is read as it is meant. */
export function openQuestions({ columns, fields, values }: MappingPreview): OpenQuestion[] {
  const open = columns
    .filter((column) => isProposal(column))
    .map(({ header, field, certainty, reasons }) => ({
      what: `“${header}” may be ${field} (${certainty}: ${reasons.join(', ')})`,
      flag: `--set ${quoted(`${header}=${field}`)}  or  --ignore ${quoted(header)}`,
    }))
  const missing = fields
    .filter((field) => field.missing)
    .map(({ field, title, expected, required }) => ({
      what: `no column is ${title}`,
      flag: `--set ${quoted(`HEADER=${field}`)}${expected && !required ? `, or of \`ingest\` --without ${field}` : ''}`,
    }))
  const unknown = values
    .filter(({ severity }) => severity === 'error')
    .flatMap(({ field, title, unknown, more, choices }) => [
      ...unknown.map(({ value, lines, proposal }) => ({
        what: `${title} “${value}” (${plural(lines, 'line')}) is not known`,
        flag: `--value ${quoted(`${field}:${value}=${proposal ?? choices.slice(0, 5).join('|')}`)}`,
      })),
      ...(more > 0
        ? [{ what: `${title}: ${plural(more, 'more unknown value')}`, flag: 'in a terminal' }]
        : []),
    ])
  return [...open, ...missing, ...unknown]
}

function quoted(text: string): string {
  return `"${text.replace(/["$`\\]/g, '\\$&')}"`
}

function printAnswered(
  output: Output,
  {
    file,
    target,
    mapping,
    last,
    isRemembered,
  }: { file: string; target: MappingTarget; mapping: Mapping; last: MappingPreview; isRemembered: boolean },
): void {
  const open = openQuestions(last)
  if (open.length === 0) output.done('All columns and values are mapped')
  else {
    output.heading(`${plural(open.length, 'question')} open`)
    for (const { what, flag } of open)
      output.line(`  ${pc.yellow('●')} ${printableLine(what)}\n      ${pc.cyan(printableLine(flag))}`)
  }
  if (isRemembered) output.done('Remembered for the next files of this workspace')
  const flags = isRemembered ? [] : flagsOf(mapping)
  const owner = [
    'stagedoor ingest',
    shellWord(file),
    `--dataset ${target.dataset}`,
    `--platform ${target.platform}`,
  ]
  if (open.length === 0) output.next(['Ingest it', [...owner, ...flags].join(' ')])
}

function flagsOf({ headers, field_values }: Mapping): string[] {
  return [
    ...Object.entries(headers).map(([header, field]) =>
      field === null ? `--ignore ${quoted(header)}` : `--set ${quoted(`${header}=${field}`)}`,
    ),
    ...Object.entries(field_values).flatMap(([field, values]) =>
      Object.entries(values).map(([text, value]) => `--value ${quoted(`${field}:${text}=${value ?? ''}`)}`),
    ),
  ]
}

/** How people had their files read, for their next ones. */
function printReadOptions(output: Output, memories: readonly ReadOptionsMemory[]): void {
  if (memories.length === 0) return
  output.heading('How files are to be read')
  for (const { columns, options, author, change } of memories) {
    const said = Object.entries(options).map(([option, value]) => `${option.replace('_', ' ')} ${value}`)
    const from = change === null ? '' : `, from #${change}`
    const shown = columns.slice(0, 4).map(printableLine).join(', ')
    output.line(
      `  ${shown}${columns.length > 4 ? ', …' : ''}: ${said.join(', ')} ${pc.dim(`(${author}${from})`)}`,
    )
  }
}

function printMapping(output: Output, { headers, field_values, header_by, value_by }: KnownMapping): void {
  const rows = [
    ...Object.entries(headers).map(([header, field]) => [
      `  ${header}`,
      '→',
      field ?? '(ignored)',
      header_by[header] ?? '',
    ]),
    ...Object.entries(field_values).flatMap(([field, values]) =>
      Object.entries(values).map(([text, value]) => [
        `  ${field}: ${text}`,
        '→',
        value ?? '(empty)',
        value_by[field] ?? '',
      ]),
    ),
  ]
  const none = 'Nothing is mapped: the headers of the dataset hold.'
  output.line(rows.length > 0 ? formatTable(rows, (cell, at) => (at === 3 ? pc.dim(cell) : cell)) : none)
}
