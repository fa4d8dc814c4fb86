/**
 * `stagedoor init`: a table of the user's and a file become a dataset. The catalogue and the file are read, a dataset is
 * proposed, what is uncertain is asked, the declaration is written and registered, and the first plan is shown. Nothing is
 * written to the table.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { readTable, type TableCatalogue } from '../ingest/datasets/catalogue.ts'
import { completeDataset, type Dataset, type DatasetDeclaration } from '../ingest/datasets/dataset.ts'
import {
  type Answers,
  PERCENT_FORMS,
  type PercentForm,
  type Proposal,
  type ProposedColumn,
  type Question,
} from '../ingest/datasets/proposal.ts'
import {
  type DatasetProblem,
  datasetProblems,
  listDatasets,
  registerDataset,
} from '../ingest/datasets/registry.ts'
import type { SampledProfile } from '../ingest/profile-file.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { withClient } from '../kernel/postgres/connection.ts'
import { argumentInvalid, collect, DELIMITER, HEADER_LINE, parseList, parseSetting } from './arguments.ts'
import { command } from './command.ts'
import { IGNORE_HEADER } from './dataset-map.ts'
import { printProblems, scriptOf } from './dataset-problems.ts'
import { formatCount, plural, shellWord } from './format.ts'
import { ingestFile, printIngested } from './ingest.ts'
import { grantRightsOfDataset } from './owner-grants.ts'
import { dialectText, inferredText, profileWithProgress } from './profile.ts'
import { type Session, workspaceIfNamed } from './session.ts'
import { ask, type Column, canAsk, confirm, type Output, painter } from './terminal.ts'
import { printableLine } from './text.ts'
import { actorFlag } from './upload-next-steps.ts'

export const initCommand = () =>
  command(
    'init',
    'a dataset for a table of yours, proposed from the table and a file, and what the file would change',
  )
    .argument('<table>', 'schema.table, as in SQL')
    .argument('<file>', 'CSV, TSV, JSON lines, JSON, Parquet or xlsx, as you have it')
    .option('--yes', 'ask nothing: what is uncertain is not used, and listed')
    .option(
      '--set <header=column>',
      'this header of the file is that column of the table',
      collect(parseSetting(/^(.+)=([^=]+)$/s, '--set', '"Header=column"')),
      [],
    )
    .option(...IGNORE_HEADER)
    .option(
      '--key <columns>',
      'what rows are known by: columns with a unique index, separated by commas',
      parseList,
    )
    .option('--zone <name>', 'of timestamps that name none: Europe/Berlin, +02:00')
    .option(
      '--separator <column=sign>',
      'what separates the items of an array, where cells have several signs',
      collect(parseSetting(/^([^=]+)=(.+)$/s, '--separator', '"column=;"')),
      [],
    )
    .option(
      '--percent <column=fraction|points>',
      'what a column has for 80 %: 0.8 (fraction) or 80 (points)',
      collect(
        parseSetting(/^([^=]+)=(fraction|points)$/s, '--percent', '"column=fraction" or "column=points"'),
      ),
      [],
    )
    .option('--decimal <dot|comma>', 'of numbers, where nothing in the file tells', ['dot', 'comma'])
    .option('--dates <dmy|mdy>', 'whether the day or the month is first, where nothing tells', ['dmy', 'mdy'])
    .option('--name <name>', 'of the dataset; default: that of the table')
    .option('--output <file>', 'where to write the declaration; default: NAME.dataset.json')
    .option(
      '--force',
      'replace that file, even if edited (it is kept as .bak), and the registered dataset of that name',
    )
    .option('--no-register', 'write the file only')
    .option('--approval', 'nothing is promoted before a second person has approved (the default)')
    .option('--no-approval', 'promote without a second person')
    .option('--encoding <name>', 'where the file is not UTF-8: shift_jis, gbk, windows-1251, …')
    .option(...DELIMITER)
    .option('--columns <names>', 'of a file without a header, in order: name,name,…')
    .option(...HEADER_LINE)
    .option('--sheet <name>', 'of an xlsx; default: the first one with data')
    .workspace()
    .actor({ backEndRole: 'service_role' })
    .examples(
      `  $ stagedoor init public.products products.xlsx
  $ stagedoor init public.orders orders.csv --yes --set "Datum=order_date" --zone Europe/Berlin

Nothing is written to the table: the plan is a dry run. Of a CSV file in UTF-8 above 16 MiB or 100,000 lines \`init\` plans the first lines, and says so. Afterwards \`stagedoor ingest FILE\` brings files in.`,
    )
    .run(async (session, named, file) => {
      const { options, output } = session
      const table = await readCatalogue(session, named)
      const { headerKey } = await import('../ingest/datasets/header-key.ts')
      const known = new Set(table.columns.map(({ name }) => headerKey(name)))
      const profile = await profileWithProgress(output, file, options, {
        knowsHeader: (name) => known.has(headerKey(name)),
      })
      const { proposal, answers, isAnswered } = await completeProposal(
        session,
        table,
        profile,
        answersOf(options, table, profile),
      )
      if (!isAnswered) {
        output.line()
        printQuestions(output, proposal)
      }
      requirePossible(proposal)
      const path = options.output ?? `${proposal.dataset.name}.dataset.json`
      if (!/\.json$/.test(path)) throw argumentInvalid(`--output ${path}: its name must end with .json`)
      const declaration = withSchema(proposal.dataset, path)
      const before = readDeclaration(path)
      const isEdited = before !== undefined && !isDraft(before) && !isSameDeclaration(before, declaration)
      if (options.force !== true) {
        if (isEdited)
          await requireReplacement(path, before, declaration, options.yes !== true && !output.json)
        if (options.register) await requireFreeName(session, declaration, before)
      }
      const kept = isEdited ? keepBackup(path) : null
      writeFileSync(path, `${JSON.stringify(withDigest(declaration), null, 2)}\n`)
      const written = {
        table: table.table,
        file,
        path,
        ...proposal,
        dataset: declaration,
        ...(kept && { kept }),
      }
      output.line()
      if (kept && !output.json) output.done(`What was in ${path} is kept as ${pc.bold(kept)}`)
      if (!output.json) output.done(`${pc.bold(path)} is written`)
      if (!options.register) return output.result(written, () => {}, registerStep(path))
      await grantRightsOfDataset(session, completeDataset(declaration))
      const problems = await register(session, declaration)
      if (problems.length > 0) return reportProblems(output, written, problems, path, file)
      if (!output.json) output.done(`${pc.bold(declaration.name)} is registered`)
      const { encoding, delimiter, columns, headerLine, sheet, workspace } = options
      const { decimal, dates } = answers
      const read = { encoding, delimiter, columns, headerLine, sheet, workspace, decimal, dates }
      const part = plannedPart(profile)
      const planned = await ingestFile(session, file, {
        ...(part && { bytes: part.bytes, name: `${basename(file)} (${partText(part)})` }),
        ...Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)),
        dataset: declaration.name,
        until: 'planned',
        // Never to be promoted, and what is valid is shown whatever is not.
        dryRun: true,
        onInvalid: 'skip',
        threshold: 0,
      })
      const { upload } = planned.result
      output.result(
        { ...written, problems: [], upload, planned_lines: part?.lines ?? profile.lines },
        () => {
          printIngested(output, planned.result, planned.view, planned.problems)
          output.line()
          if (part) output.caution(`The plan is of the ${partText(part)}; the file is long`)
          output.done(`Nothing was written to your table ${printableLine(table.table)}: this was a dry run`)
        },
        ['See every change that it would make', `stagedoor upload plan ${upload.upload_id} --rows`],
        upload.invalid_count
          ? ['See what is wrong', `stagedoor upload problems ${upload.upload_id} --all`]
          : undefined,
        part && ['Plan all lines', `stagedoor ingest ${shellWord(file)}${styleFlags(answers)} --dry-run`],
        [
          'Bring the file in',
          `stagedoor ingest ${shellWord(file)}${styleFlags(answers)}${actorFlag(options, planned.view.external)}`,
        ],
      )
    })

/** A longer file is planned in part: `init` is to answer within seconds, and all lines of 100 MB take minutes. */
const MAX_PLANNED_BYTES = 16 * 1024 * 1024
const MAX_PLANNED_LINES = 100_000

interface PlannedPart {
  readonly bytes: number
  readonly lines: number
  readonly of: number
}

/** Undefined: all lines are planned. */
function plannedPart({ bytes, lines, head }: SampledProfile): PlannedPart | undefined {
  if (!head || (bytes <= MAX_PLANNED_BYTES && lines <= MAX_PLANNED_LINES)) return undefined
  return { ...head, of: lines }
}

function partText({ lines, of }: PlannedPart): string {
  return `first ${formatCount(lines)} of ${formatCount(of)} lines`
}

/**
 * As the login, which mostly owns the tables, else as Stagedoor's own role: what that one may not read yet is said later, in one
 * script.
 */
async function readCatalogue({ database, administrator }: Session, named: string): Promise<TableCatalogue> {
  const { directUrl } = await database()
  const found = await withClient(directUrl, async (client) => {
    await client.query('begin read only')
    try {
      return await readTable(client, named)
    } finally {
      await client.query('rollback')
    }
  })
  return found.readable ? found : administrator((client) => readTable(client, named))
}

/** How this file is written is not declared: the next one may tell by itself. */
function styleFlags({ decimal, dates }: Answers): string {
  return [decimal && ` --decimal ${decimal}`, dates && ` --dates ${dates}`].filter(Boolean).join('')
}

interface InitOptions {
  readonly yes?: boolean
  readonly set: readonly string[][]
  readonly ignore: readonly string[]
  readonly key?: readonly string[]
  readonly zone?: string
  readonly name?: string
  readonly separator: readonly string[][]
  readonly percent: readonly string[][]
  readonly decimal?: string
  readonly dates?: string
}

function answersOf(options: InitOptions, table: TableCatalogue, profile: SampledProfile): Answers {
  const columns = table.columns.map(({ name }) => name)
  const headers = profile.columns.map(({ header }) => header)
  for (const [header, column] of options.set) {
    requireOne('--set', header!, headers, 'The file has no column')
    requireOne('--set', column!, columns, `${table.table} has no column`)
  }
  for (const header of options.ignore) requireOne('--ignore', header, headers, 'The file has no column')
  for (const [option, settings] of [
    ['--separator', options.separator],
    ['--percent', options.percent],
  ] as const)
    for (const [column] of settings) requireOne(option, column!, columns, `${table.table} has no column`)
  for (const column of options.key ?? []) requireOne('--key', column, columns, `${table.table} has no column`)
  if (options.name !== undefined && !/^[a-z][a-z0-9_]{0,62}$/.test(options.name))
    throw argumentInvalid(`--name ${options.name}: small letters, digits and underscores, a letter first`)
  return {
    map: Object.fromEntries([...options.set, ...options.ignore.map((header) => [header, null] as const)]),
    ...(options.key && { key: options.key }),
    ...(options.zone !== undefined && { zone: options.zone }),
    ...(options.name !== undefined && { name: options.name }),
    separators: Object.fromEntries(options.separator),
    percents: Object.fromEntries(options.percent) as Record<string, PercentForm>,
    ...(options.decimal !== undefined && { decimal: options.decimal as 'dot' | 'comma' }),
    ...(options.dates !== undefined && { dates: options.dates as 'dmy' | 'mdy' }),
  }
}

function requireOne(option: string, given: string, allowed: readonly string[], problem: string): void {
  if (allowed.includes(given)) return
  throw argumentInvalid(`${option}: ${problem} “${given}”; there are: ${allowed.join(', ')}`)
}

/** Shows what is proposed and asks about the rest, until nothing is open. */
async function completeProposal(
  { output, options }: Session & { readonly options: InitOptions },
  table: TableCatalogue,
  profile: SampledProfile,
  given: Answers,
): Promise<{ proposal: Proposal; answers: Answers; isAnswered: boolean }> {
  const isAsking = canAsk() && options.yes !== true && !output.json
  let answers = given
  const { proposeDataset } = await import('../ingest/datasets/propose.ts')
  let proposal = proposeDataset(table, profile, answers)
  printProposal(output, table, profile, proposal)
  const asked = new Set<string>()
  for (;;) {
    const question = proposal.questions.find(({ option, text }) => !asked.has(option + text))
    if (!question || !isAsking) break
    asked.add(question.option + question.text)
    answers = { ...answers, ...(await askQuestion(question, table, profile, answers)) }
    proposal = proposeDataset(table, profile, answers)
  }
  if (asked.size > 0) printProposal(output, table, profile, proposal)
  return { proposal, answers, isAnswered: proposal.questions.length === 0 }
}

async function askQuestion(
  question: Question,
  table: TableCatalogue,
  profile: SampledProfile,
  answers: Answers,
): Promise<Partial<Answers>> {
  const { about, header, column, text, choices } = question
  if (about === 'zone') {
    const zone = await ask(`${text} Such as Europe/Berlin or +02:00; Enter leaves it open`)
    return zone === '' ? {} : { zone }
  }
  if (about === 'key') {
    const key = await ask(`${text} ${numbered(choices)}`)
    const chosen = choices[Number(key) - 1] ?? (key === '' ? choices[0]! : key)
    return { key: chosen.split(',').map((name) => name.trim()) }
  }
  if (about === 'key column') return askKeyColumn(question, table, profile, answers)
  if (about === 'dates') return chosenOne(await choose(text, choices), (dates) => ({ dates: dates as 'dmy' }))
  if (about === 'decimal')
    return chosenOne(await choose(text, choices), (decimal) => ({ decimal: decimal as 'dot' }))
  if (about === 'separator')
    return chosenOne(await choose(text, choices), (sign) => ({
      separators: { ...answers.separators, [column!]: sign },
    }))
  if (about === 'percent')
    return chosenOne(await choose(text, PERCENT_FORMS), (form) => ({
      percents: { ...answers.percents, [column!]: form as PercentForm },
    }))
  const names = table.columns.map(({ name }) => name)
  for (;;) {
    const given = await ask(`${text} ${numbered(choices)} · another column’s name · Enter ignores it`)
    const chosen = given === '' ? null : (choices[Number(given) - 1] ?? given)
    if (chosen === null || names.includes(chosen)) return { map: { ...answers.map, [header!]: chosen } }
    process.stderr.write(`  There is no column ${chosen}; there are: ${names.join(', ')}\n`)
  }
}

function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1} ${choice}`).join(' · ')
}

/** By its number or by its text; empty: it stays open. */
async function choose(text: string, choices: readonly string[]): Promise<string> {
  for (;;) {
    const given = await ask(`${text} ${numbered(choices)} · Enter leaves it open`)
    const chosen = given === '' || choices.includes(given) ? given : choices[Number(given) - 1]
    if (chosen !== undefined) return chosen
    process.stderr.write(`  ${given} is none of them; there are: ${choices.join(', ')}\n`)
  }
}

function chosenOne(given: string, answer: (chosen: string) => Partial<Answers>): Partial<Answers> {
  return given === '' ? {} : answer(given)
}

/** The choices are headers, or `header=column` where several keys are possible. */
async function askKeyColumn(
  { text, choices, column }: Question,
  { columns }: TableCatalogue,
  profile: SampledProfile,
  answers: Answers,
): Promise<Partial<Answers>> {
  const headers = profile.columns.map(({ header }) => header)
  const names = columns.map(({ name }) => name)
  const examplesOf = (header: string) =>
    profile.columns.find((found) => found.header === header)?.examples.join(', ') ?? ''
  process.stderr.write(`${text}\n`)
  for (const [index, choice] of choices.entries()) {
    const [header, target] = column === undefined ? splitSetting(choice) : [choice, undefined]
    const meaning = target === undefined ? '' : ` is ${target}`
    process.stderr.write(
      `  ${index + 1} ${printableLine(header!)}${meaning}  ${pc.dim(printableLine(examplesOf(header!)))}\n`,
    )
  }
  for (;;) {
    const form = column === undefined ? '"Header=column"' : 'another header'
    const given = await ask(`Number, or ${form}; Enter leaves it open`)
    if (given === '') return {}
    const chosen = choices[Number(given) - 1] ?? given
    const [header, target] = column === undefined ? splitSetting(chosen) : [chosen, column]
    if (headers.includes(header!) && names.includes(target ?? ''))
      return { map: { ...answers.map, [header!]: target! } }
    process.stderr.write(`  ${given} is none of them; the file has: ${headers.join(', ')}\n`)
  }
}

function splitSetting(setting: string): (string | undefined)[] {
  const at = setting.lastIndexOf('=')
  return at < 0 ? [setting, undefined] : [setting.slice(0, at), setting.slice(at + 1)]
}

const paintCertainty = painter({ green: ['sure', 'likely'], yellow: ['uncertain'] })

const COLUMNS: Column<ProposedColumn>[] = [
  { title: 'their header', value: ({ header }) => header, shrinkTo: 14 },
  { title: '', value: ({ column }) => (column ? '→' : '') },
  {
    title: 'column',
    value: ({ column, certainty, ignored }) =>
      column ? `${column}${certainty === 'uncertain' ? '?' : ''}` : ignored ? 'ignored' : 'not used',
  },
  { title: 'as', value: ({ as }) => as, dim: true, shrinkTo: 12 },
  { title: 'certainty', value: ({ column, certainty }) => (column ? certainty : ''), paint: paintCertainty },
  { title: 'examples', value: ({ examples }) => examples.join(' · '), dim: true, shrinkTo: 16 },
]

function printProposal(
  output: Output,
  table: TableCatalogue,
  profile: SampledProfile,
  proposal: Proposal,
): void {
  const { rows } = proposal.dataset
  const left = proposal.left.filter(({ why }) => why !== null)
  const unfilled = proposal.left.filter(({ why }) => why === null)
  const unused = proposal.columns.filter(({ column }) => column === null)
  const headerOf = ({ header }: ProposedColumn) => header
  output.line(
    `${pc.bold(printableLine(profile.file))} → ${pc.bold(printableLine(table.table))}  ${plural(profile.lines, 'line')}`,
  )
  output.dim(`  ${dialectText(profile)}`)
  output.line()
  output.records(proposal.columns, COLUMNS)
  output.line()
  const inferred = inferredText(profile)
  output.facts([
    ['key', rows[0]!.key.join(' + ')],
    ['left to the database', left.map(({ column, why }) => `${column} (${why})`).join(', ')],
    ['not in the file', unfilled.map(({ column }) => column).join(', ')],
    [
      'not used',
      unused
        .filter(({ ignored }) => !ignored)
        .map(headerOf)
        .join(', '),
    ],
    [
      'ignored',
      unused
        .filter(({ ignored }) => ignored)
        .map(headerOf)
        .join(', '),
    ],
  ])
  if (inferred) output.dim(inferred)
  if (proposal.missing.length > 0)
    output.caution(
      `The file fills no ${proposal.missing.join(', ')}, which must have a value: new rows will be refused`,
    )
}

/** What nobody has answered, and the options that answer it. */
function printQuestions(output: Output, { questions }: Proposal): void {
  output.warn(
    `${plural(questions.length, 'question')} left open. Answer with options, and run the command again:`,
  )
  for (const { text, option, choices } of questions) {
    output.line(`  ${printableLine(text)}${choices.length > 1 ? pc.dim(`  (${choices.join(', ')})`) : ''}`)
    output.line(`    ${pc.cyan(option)}`)
  }
}

function requirePossible({ obstacles, dataset, questions }: Proposal): void {
  if (obstacles.length === 0) return
  const reason = obstacles.map(({ problem }) => problem).join('; ')
  const remedies = obstacles.map(({ remedy }) => remedy).filter((remedy) => remedy !== null)
  throw new StagedoorError(
    'dataset_invalid',
    {
      dataset: dataset.name,
      reason,
      ...(remedies.length > 0 && { statements: remedies }),
      ...(questions.length > 0 && { questions: questions.map(({ text, option }) => `${text} ${option}`) }),
    },
    remedies.length > 0 ? { hint: remedies.join('\n') } : {},
  )
}

/** The JSON Schema of this very version, as a path from the file: editors read it without a network. */
function withSchema(dataset: DatasetDeclaration, path: string): DatasetDeclaration {
  const schema = fileURLToPath(new URL('../../docs/reference/dataset.schema.json', import.meta.url))
  const from = relative(dirname(resolve(path)), schema).replaceAll('\\', '/')
  return { $schema: from.startsWith('.') ? from : `./${from}`, ...dataset }
}

// The file of the declaration. A draft that nobody has edited is replaced by the next run; an edited one is never lost.

/** A digest of what stands in it, however it is formatted. */
function digestOf({ $init: _, $schema: _schema, ...declaration }: DatasetDeclaration): string {
  return createHash('sha256').update(JSON.stringify(declaration)).digest('hex').slice(0, 32)
}

function withDigest(declaration: DatasetDeclaration): DatasetDeclaration {
  const { $schema, ...rest } = declaration
  return { ...($schema !== undefined && { $schema }), $init: digestOf(declaration), ...rest }
}

/** null: there is a file, and it is no declaration. */
function readDeclaration(path: string): DatasetDeclaration | null | undefined {
  if (!existsSync(path)) return undefined
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof read === 'object' && read !== null && 'fields' in read ? (read as DatasetDeclaration) : null
  } catch {
    return null
  }
}

/** As `init` wrote it. */
function isDraft(declaration: DatasetDeclaration | null): boolean {
  return declaration?.$init !== undefined && declaration.$init === digestOf(declaration)
}

function isSameDeclaration(before: DatasetDeclaration | null, now: DatasetDeclaration): boolean {
  return before !== null && digestOf(before) === digestOf(now)
}

const MAX_DIFFERENCES = 8

/** Asks whether an edited file is to be replaced; where nobody can be asked, it is refused. */
async function requireReplacement(
  path: string,
  before: DatasetDeclaration | null,
  now: DatasetDeclaration,
  mayAsk: boolean,
): Promise<void> {
  const { differences } = await import('../ingest/datasets/short-form.ts')
  const { $init: _, $schema: _schema, ...old } = before ?? ({} as DatasetDeclaration)
  const { $schema: _other, ...next } = now
  const paths = before === null ? [] : differences(old, next).map((found) => found.path)
  const more = paths.length > MAX_DIFFERENCES ? `, and ${paths.length - MAX_DIFFERENCES} more` : ''
  const listed =
    paths.length > 0 ? `; they differ in ${paths.slice(0, MAX_DIFFERENCES).join(', ')}${more}` : ''
  const origin =
    before?.$init === undefined ? 'init did not write it' : 'somebody has edited it since init wrote it'
  const problem = `There is a file ${path} already, and ${origin}${listed}`
  if (mayAsk && canAsk() && (await confirm(`${problem}. Replace it? It is kept as .bak`))) return
  throw argumentInvalid(
    problem,
    'Name another with --output, or replace it with --force, which keeps it as .bak.',
  )
}

/** Under a name that no file has. */
function keepBackup(path: string): string {
  let name = `${path}.bak`
  for (let count = 2; existsSync(name); count++) name = `${path}.bak${count}`
  copyFileSync(path, name)
  return name
}

/**
 * A dataset of the same name may be of another table, or written by hand. `file` is what stood in the file before: where that is
 * what is registered, this run continues it.
 */
async function requireFreeName(
  { administrator }: Session,
  declaration: DatasetDeclaration,
  file: DatasetDeclaration | null | undefined,
): Promise<void> {
  const { name } = declaration
  const registered = await administrator((client) => listDatasets(client))
  const before = registered.find(({ dataset }) => dataset === name)?.definition
  if (!before) return
  const { differences, shortForm } = await import('../ingest/datasets/short-form.ts')
  const short = (dataset: Dataset) => {
    const { $schema: _, ...rest } = shortForm(dataset)
    return rest
  }
  const isRegistered = (declared: DatasetDeclaration) =>
    differences(short(before), short(completeDataset(declared))).length === 0
  if (!before.custom_rule && [declaration, file].some((declared) => declared && isRegistered(declared)))
    return
  const targets = before.rows.map(({ target }) => target).join(', ')
  throw argumentInvalid(
    `There is a dataset ${name} already, which writes ${targets}`,
    'Choose another name with --name, or replace it with --force.',
  )
}

async function register(
  {
    administrator,
    options,
  }: Session & { readonly options: { readonly workspace?: string; readonly approval?: boolean } },
  declaration: DatasetDeclaration,
): Promise<DatasetProblem[]> {
  const dataset = completeDataset(declaration)
  return administrator(async (client) => {
    const workspaceId = await workspaceIfNamed(client, options.workspace)
    const problems = await datasetProblems(client, dataset, workspaceId)
    if (problems.length === 0)
      await registerDataset(client, dataset, { approvalRequired: options.approval, workspaceId })
    return problems
  })
}

const registerStep = (path: string) =>
  ['Register it', `stagedoor dataset register ${shellWord(path)}`] as const

function reportProblems(
  output: Output,
  written: { readonly dataset: DatasetDeclaration },
  problems: readonly DatasetProblem[],
  path: string,
  file: string,
): never {
  output.result({ ...written, problems, script: scriptOf(problems) }, () => printProblems(output, problems))
  throw new StagedoorError(
    'dataset_invalid',
    { dataset: written.dataset.name, reason: `its table lacks ${plural(problems.length, 'thing')}` },
    {
      hint: `Run the script above as the owner of the table, then: stagedoor dataset register ${shellWord(path)} && stagedoor ingest ${shellWord(file)} --dry-run`,
    },
  )
}
