/** `stagedoor search`. Without the name of a command, what follows is the question. */

import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import pc from 'picocolors'
import { StagedoorError } from '../kernel/errors.ts'
import { omitUndefined } from '../kernel/omit-undefined.ts'
import type { SearchHit } from '../search/hits.ts'
import {
  deleteDocument,
  findDocumentId,
  type SearchedDocument,
  searchedDocuments,
  setDocument,
} from '../search/legacy.ts'
import { type SearchAnswer, search } from '../search/query.ts'
import { LIFECYCLES, MAX_HITS, parseColumnValues, SOURCES } from '../search/question.ts'
import { SORTS } from '../search/result-list.ts'
import {
  addSynonyms,
  deleteSynonyms,
  listSynonyms,
  missedLog,
  missedQuestions,
  setMissedLog,
} from '../search/synonyms.ts'
import { createVectorSearch } from '../search/vector-search.ts'
import { ANSWER_WARNINGS } from '../search/warnings.ts'
import { decodeUtf8 } from '../staging/records.ts'
import { readDocument } from '../units/cut.ts'
import { collect, integerBetween, parseJsonObject, readBytesInput } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatBytes, formatDuration, formatRelativeTime, plural } from './format.ts'
import { unitName } from './ids.ts'
import {
  auditCommand,
  deadLettersCommand,
  flushCommand,
  openSearchScope,
  phaseCommand,
  replayCommand,
  type SearchScope,
  statusCommand,
  switchCommand,
  windowCommand,
} from './search-projection.ts'
import {
  activateTableCommand,
  addTableCommand,
  removeTableCommand,
  rescanTableCommand,
  reviewTableCommand,
  showTableCommand,
  tablesCommand,
} from './search-table.ts'
import { type Column, nextPage, type Output } from './terminal.ts'
import { printable, printableLine, prose, screenWidth, textWidth, truncateLine } from './text.ts'
import { paintStatus } from './unit-find.ts'

export function searchCommand(): Command {
  const search = commandGroup(
    'search',
    'find units and documents by words and by meaning; every hit says how fresh it is',
    [
      statusCommand(),
      flushCommand(),
      deadLettersCommand(),
      replayCommand(),
      auditCommand(),
      switchCommand(),
      phaseCommand(),
      windowCommand(),
      synonymCommand(),
      missedCommand(),
      documentCommand(),
      addTableCommand(),
      tablesCommand(),
      showTableCommand(),
      reviewTableCommand(),
      activateTableCommand(),
      rescanTableCommand(),
      removeTableCommand(),
    ],
    `
  $ stagedoor search how much annual leave do I get
  $ stagedoor search '"paid leave" carry*' --topic leave --status enacted
  $ stagedoor search zelt --table products --filter category_id=2
  $ stagedoor search add-table products --text name --filter category_id
  $ stagedoor search leave --without sick           or -sick behind --: search -- leave -sick
  $ stagedoor search synonym add pto "annual leave" --both
  $ stagedoor search flush                          project what was edited now
  $ stagedoor search status
  $ stagedoor search audit --repair
  $ stagedoor search switch --embedder openai       needs EMBEDDINGS_URL

\`stagedoor search find --help\` lists the filters. A question that begins with the name of a command: search find status …`,
  )
  // A question may begin with any word.
  return search
    .usage('[find] <question...> | <command>')
    .helpCommand(false)
    .addCommand(findCommand(), { isDefault: true })
}

const findCommand = () =>
  command('find', 'ask: what you would say in words, "a phrase" in quotes, begin* for beginnings')
    .argument('[question...]', 'as one asks it')
    .limit(10, MAX_HITS, 'how many hits')
    .option('--topic <label>', 'only units that carry it; again for one or another', collect(String))
    .option('--kind <kind>', 'only units of this kind; again for one or another', collect(String))
    .option('--status <status>', 'only units so; default: draft and enacted', LIFECYCLES)
    .option('--language <code>', 'only texts in it; again for one or another', collect(String))
    .option('--container <unit>', 'only this unit and what it contains', unitName)
    .option(
      '--edge <type[=target]>',
      'only units with such an edge, as cites, cites=handbook/leave or =handbook/leave',
      parseEdge,
    )
    .option('--table <table>', 'only rows of this table; again for one or another', collect(String))
    .option(
      '--filter <column=value>',
      'only rows of tables with it; again for one or another',
      collect(String),
    )
    .option('--profile <json>', 'only units whose profile holds this', parseJsonObject)
    .option('--source <source>', 'only units, only documents, or only rows of tables', SOURCES)
    .workspace()
    .option('--explain', 'say why each hit is there')
    .option(
      '--without <text>',
      'only what has this word, phrase or begin* nowhere; again for another',
      collect(String),
    )
    .option('--exact', 'as it is typed: correct no word, add no synonym')
    .option('--typing', 'the last word is only a beginning: words alone, and completions')
    .option('--sort <order>', 'of the 1,000 best hits; default: relevance', SORTS)
    .option('--facets', 'count the hits by source, table, column, kind, topic, lifecycle and language')
    .option('--all-copies', 'list hits that say nearly the same one by one')
    .option('--context', 'with each hit its container and its neighbours')
    .option('--after <cursor>', 'the page after this one')
    .actor()
    .examples(
      `  $ stagedoor search how much annual leave do I get
  $ stagedoor search '"paid leave" carry*' --topic leave --status enacted
  $ stagedoor search travel --container handbook --as viewer

Every hit says how fresh it is. What was edited is in search about two minutes later; \`stagedoor search flush\` does not wait.`,
    )
    .run(async (session, words) => {
      const { output, config } = session
      const { limit, explain = false, status: lifecycle } = session.options
      const { topic, kind, language, container, edge, profile, source } = session.options
      const { table, filter } = session.options
      const columns = filter && parseColumnValues(filter)
      const { typing, exact, sort, facets, context, after, allCopies, without = [] } = session.options
      const filters = { topic, kind, lifecycle, language, container, edge, profile, source, table, columns }
      const scope = await openSearchScope(session)
      const { workspace: workspace_id, transaction, pool } = scope
      const vectorSearch = createVectorSearch({ pool, config })
      try {
        const answer = await search(
          { transaction, vectorSearch },
          {
            workspaceId: workspace_id,
            text: [...words, ...without.map(exclusionOf)].join(' '),
            limit,
            filters,
            explain,
            ...omitUndefined({ typing, exact, sort, facets, context, after }),
            ...(allCopies && { collapse: false }),
          },
        )
        if (answer.hits.length > 0 || output.json)
          return output.result(answer, () => printAnswer(output, answer))
        if (answer.no_hits) printEmptyAnswer(output, answer)
        else output.line(after === undefined ? 'Nothing matches so far.' : 'No hit is left.')
      } finally {
        await vectorSearch.close()
      }
    })

function parseEdge(given: string): { type?: string; target?: string } {
  const at = given.includes('=') ? given.indexOf('=') : given.length
  const [type, target] = [given.slice(0, at), given.slice(at + 1)]
  if ((type === '' && target === '') || given.endsWith('='))
    throw new InvalidArgumentError('Its type, type=target or =target, as cites=handbook/leave.')
  return { ...(type !== '' && { type }), ...(target !== '' && { target }) }
}

function exclusionOf(text: string): string {
  return /\s/.test(text) ? `-"${text.replaceAll('"', ' ')}"` : `-${text}`
}

function printAnswer(output: Output, answer: SearchAnswer): void {
  const { hits, warnings, took_ms, legs, next } = answer
  printRewriting(output, answer)
  const width = String(hits.length).length
  hits.forEach((hit, index) => {
    const number = String(index + 1).padStart(width)
    const indent = ' '.repeat(width + 2)
    output.line(`${pc.dim(number)}  ${pc.bold(printableLine(hit.title))}  ${factsOf(hit)}`)
    for (const line of snippetLines(hit, screenWidth() - indent.length)) output.line(indent + line)
    for (const line of similarLines(hit)) output.line(indent + pc.dim(line))
    for (const line of contextLines(hit))
      output.line(indent + pc.dim(truncateLine(line, screenWidth() - indent.length)))
    for (const warning of hit.warnings) output.caution(warning, indent)
    if (hit.explain) for (const line of explainLines(hit)) output.line(indent + pc.dim(line))
    output.line()
  })
  for (const warning of warnings) output.caution(warning)
  const how = typeof legs.dense === 'number' ? 'by words and by meaning' : 'by words'
  const count = hits.length === 1 ? 'One hit' : `${hits.length} hits`
  output.dim(`${count} in ${formatDuration(took_ms)}, ${how}${next === undefined ? '' : '; there are more'}`)
  printFacets(output, answer)
  const { canonical_address: unit, document_id: document, table, key } = hits[0]!
  const nextPage: [string, string][] =
    next === undefined ? [] : [['The next page: the same question with', `--after ${next}`]]
  if (table === undefined)
    output.next(
      ['Read it', unit ? `stagedoor unit show ${unit}` : `stagedoor search document show ${document}`],
      ...nextPage,
    )
  else output.next(['See where it comes from', lineageCommandOf(table, key ?? {})], ...nextPage)
}

/** What was asked instead of what was typed, and what was added to it. */
function printRewriting(output: Output, { corrected, synonyms = [], suggestions = [] }: SearchAnswer): void {
  if (corrected) {
    output.line(`Showing results for ${pc.bold(printableLine(corrected.text))}`)
    output.dim(`Search instead for ${printableLine(corrected.instead)}: --exact`)
  }
  for (const { word, synonyms: others } of synonyms)
    output.dim(`Also asked for ${printableLine(others.join(', '))}: synonyms of ${printableLine(word)}`)
  for (const suggestion of suggestions) output.dim(`… ${printableLine(suggestion)}`)
}

function printFacets(output: Output, { facets }: SearchAnswer): void {
  if (facets === undefined) return
  const nameOf = ({ filter, column }: (typeof facets)[number]) => column ?? filter
  for (const filter of new Set(facets.map(nameOf))) {
    const values = facets.filter((one) => nameOf(one) === filter)
    output.line(
      prose(`${filter}: ${values.map(({ value, count }) => `${printableLine(value)} ${count}`).join(', ')}`),
    )
  }
}

function similarLines({ similar }: SearchHit): string[] {
  if (similar === undefined) return []
  const named = similar.hits.slice(0, 3).map(({ address, title }) => printableLine(address ?? title))
  const more = similar.count > named.length ? ', …' : ''
  return [`+${similar.count} like this: ${named.join(', ')}${more} (--all-copies lists them)`]
}

function contextLines({ context }: SearchHit): string[] {
  if (context === undefined) return []
  const { parent, unit_before: before, unit_after: after, text_before, text_after } = context
  return [
    parent && `in ${parent.canonical_address}: ${printableLine(parent.title)}`,
    before && `before: ${before.canonical_address}: ${printableLine(before.title)}`,
    after && `after: ${after.canonical_address}: ${printableLine(after.title)}`,
    text_before && `… ${printableLine(text_before)}`,
    text_after && `${printableLine(text_after)} …`,
  ].filter((line) => typeof line === 'string')
}

const lineageCommandOf = (table: string, key: Readonly<Record<string, string>>): string =>
  `stagedoor lineage '${printableLine(table)}' --key '${printableLine(JSON.stringify(key)).replaceAll("'", "'\\''")}'`

function rowFacts({ table, key, columns, lineage, freshness }: SearchHit): string {
  const facts = [
    pc.dim(printableLine(`${table} ${Object.values(key ?? {}).join(' ')}`)),
    ...Object.entries(columns ?? {}).map(([column, value]) => pc.dim(printableLine(`${column} ${value}`))),
    ...(lineage ? [pc.dim(printableLine(`${lineage.file_name ?? 'upload'} line ${lineage.line}`))] : []),
  ]
  return [...facts, paintFreshness(freshness)].join(pc.dim(' · '))
}

function factsOf(hit: SearchHit): string {
  if (hit.source === 'row') return rowFacts(hit)
  const place = hit.canonical_address ?? hit.source_ref ?? hit.document_id ?? ''
  const facts =
    hit.source === 'unit'
      ? [paintStatus(hit.lifecycle_status ?? ''), pc.dim(`version ${hit.version_no}`)]
      : [pc.dim('old knowledge base')]
  return [pc.dim(printableLine(place)), ...facts, paintFreshness(hit.freshness)].join(pc.dim(' · '))
}

function paintFreshness(cell: string): string {
  if (cell.trim() === 'current') return pc.green(cell)
  return cell.trim() === 'error' ? pc.red(cell) : pc.yellow(cell)
}

function explainLines({ explain, legs, score }: SearchHit): string[] {
  const { words, meaning } = explain!.shares
  const matched = explain!.words.map(
    ({ word, fields, share }) => `${word} ${Math.round(100 * share)} % (${fields.join(', ')})`,
  )
  const places = Object.entries(legs).map(([leg, place]) => `${leg} ${place}`)
  const sum = `${words.toFixed(4)} by words + ${meaning.toFixed(4)} by meaning`
  return [
    `${places.join(', ')} · score ${score.toFixed(4)} = ${sum} · unit ${explain!.unit}, document ${explain!.document}`,
    ...(matched.length > 0 ? [`words: ${printableLine(matched.join(', '))}`] : []),
  ]
}

/** Broken at blanks; what was found stands out. Characters are painted one by one, so no mark is lost at a line's end. */
function snippetLines({ snippet, highlights }: SearchHit, width: number): string[] {
  const isFound = (at: number) => highlights.some(([from, to]) => from <= at && at < to)
  const highlight = (text: string) => pc.bold(pc.cyan(text))
  const paint = (text: string, at: number) =>
    isFound(at) ? highlight(printableLine(text)) : printableLine(text)
  // Neighbours share their colour: no code stands between a letter and its accent.
  const [begin, end] = highlight('|').split('|')
  const lines: string[] = []
  let line = ''
  let length = 0
  let at = 0
  for (const word of snippet.split(' ')) {
    if (length > 0 && length + 1 + textWidth(word) > width) {
      lines.push(line)
      line = ''
      length = 0
    }
    const characters = [...word]
    const blank = length > 0 ? ' ' : ''
    const painted = characters.map((text, index) => paint(text, at + index)).join('')
    line += blank + painted.replaceAll(`${end}${begin}`, '')
    length += blank.length + textWidth(word)
    at += characters.length + 1
  }
  return [...lines, line]
}

/** Why there may be nothing, and what to do about it. */
function printEmptyAnswer(output: Output, { warnings, no_hits }: SearchAnswer): void {
  const { texts, tables, waiting, unknown_words, without_filters, excluded, without_exclusions } = no_hits!
  for (const warning of warnings) output.caution(warning)
  if (texts + tables > 0) {
    const { stopWords, noWords } = ANSWER_WARNINGS
    if (warnings.some((one) => one === stopWords || one === noWords)) return
    if (without_exclusions !== null && without_exclusions > 0) {
      const named = printableLine(excluded.join(' or '))
      output.line(
        `Only texts with ${named} match, which the question excludes. Ask without that to see them.`,
      )
    } else if (without_filters === null) output.line('Nothing matches. Try other words.')
    else if (without_filters === 0)
      output.line('Nothing matches with these filters, and nothing without them. Try other words.')
    else output.line('Nothing matches with these filters. Try without some of them.')
    for (const { word, similar } of unknown_words) {
      const meant = similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : ''
      output.dim(`No text has the word ${printableLine(word)}.${printableLine(meant)}`)
    }
    if (waiting > 0)
      output.dim(`${waiting === 1 ? 'One text is' : `${waiting} texts are`} not in search yet.`)
    // How many is not told: some may be hidden from whoever asks.
    if (tables > 0)
      output.dim(
        'New and changed rows of tables are found about two minutes later, or after `stagedoor search flush`.',
      )
  } else if (waiting > 0) {
    const pending = waiting === 1 ? 'one text is' : `${waiting} texts are`
    output.line(`Nothing is in search yet: ${pending} pending, about two minutes after an edit.`)
    output.next(['Do not wait', 'stagedoor search flush'])
  } else {
    output.line('There is nothing to search yet.')
    output.next(
      ['Bring a document in, through review', 'stagedoor mark handbook.md'],
      ['Or write one unit', 'echo "28 days a year." | stagedoor unit create handbook/leave'],
    )
  }
}

const ONLY = 'default: the only one there is'

// Synonyms, and questions without hits.

const synonymCommand = () =>
  commandGroup('synonym', 'words that questions are also asked with', [
    command('add', 'ask questions that have a word with its synonyms, too')
      .argument('<word>', 'one to four words, in quotes')
      .argument('<synonyms...>', 'what it is also asked as')
      .option('--both', 'and the other way round')
      .workspace(ONLY)
      .actor()
      .examples('  $ stagedoor search synonym add pto "annual leave" "time off" --both --as admin')
      .run(async (session, word, synonyms) => {
        const { transaction, workspace } = await openSearchScope(session, 'addSynonyms')
        const { both = false } = session.options
        const count = await transaction((client) => addSynonyms(client, workspace, { word, synonyms, both }))
        session.output.result({ count }, `${plural(count, 'synonym is', 'synonyms are')} new`)
      }),
    command('list', 'synonyms of a workspace, by word')
      .workspace(ONLY)
      .limit(100)
      .option('--after <word>', 'the page after this one')
      .actor()
      .run(async (session) => {
        const { output, options } = session
        const { transaction, workspace } = await openSearchScope(session)
        const synonyms = await transaction((client) => listSynonyms(client, workspace, options))
        output.list(
          synonyms,
          [
            { title: 'word', value: ({ word }) => word },
            { title: 'also asked as', value: ({ synonyms }) => synonyms.join(', '), shrinkTo: 20 },
            { title: 'by', value: ({ created_by }) => created_by, dim: true },
          ],
          options.after === undefined ? 'There are no synonyms.' : 'No synonym is left.',
          nextPage(synonyms, options.limit, ({ word }) => word),
        )
      }),
    command('delete', 'delete synonyms of a word, or all of them')
      .argument('<word>')
      .argument('[synonyms...]', 'default: all of the word')
      .option('--both', 'and the other way round')
      .workspace(ONLY)
      .actor()
      .run(async (session, word, synonyms) => {
        const { transaction, workspace } = await openSearchScope(session, 'deleteSynonyms')
        const { both = false } = session.options
        const count = await transaction((client) =>
          deleteSynonyms(client, workspace, { word, both, ...(synonyms.length > 0 && { synonyms }) }),
        )
        session.output.result({ count }, `${plural(count, 'synonym is', 'synonyms are')} deleted`)
      }),
  ])

const missedCommand = () =>
  commandGroup('missed', 'questions that found nothing, where a workspace logs them', [
    command('list', 'questions that found nothing, those asked most often first')
      .workspace(ONLY)
      .limit(100)
      .actor()
      .run(async (session) => {
        const { output, options } = session
        const { transaction, workspace } = await openSearchScope(session)
        const { log, questions } = await transaction(async (client) => ({
          log: await missedLog(client, workspace),
          questions: await missedQuestions(client, workspace, options),
        }))
        output.list(
          questions,
          [
            { title: 'question', value: ({ question }) => question, shrinkTo: 20 },
            { title: 'times', value: ({ times }) => times },
            { title: 'last', value: ({ last_at }) => formatRelativeTime(last_at) },
          ],
          log.on ? 'Every question found something.' : 'Questions without hits are not logged here.',
        )
        output.next(!log.on && ['Log them', 'stagedoor search missed log on --as admin'])
      }),
    command('log', 'log questions that find nothing, or stop it and delete the log')
      .argument('<on|off>', 'off deletes the log', onOrOff)
      .option('--days <days>', 'how long a question stays after it was asked last', integerBetween(1, 365))
      .workspace(ONLY)
      .actor()
      .run(async (session, on) => {
        const { transaction, workspace } = await openSearchScope(session, 'setMissedLog')
        const { days } = session.options
        const changed = await transaction((client) =>
          setMissedLog(client, workspace, { on, ...(days !== undefined && { days }) }),
        )
        session.output.result(
          { changed },
          on ? 'Questions without hits are logged' : 'The log is off, and empty',
        )
      }),
  ])

function onOrOff(given: string): boolean {
  if (given !== 'on' && given !== 'off') throw new InvalidArgumentError('on or off.')
  return given === 'on'
}
const DOCUMENT = 'its id, or where it comes from'

const documentCommand = () =>
  commandGroup('document', 'documents that are searched as they are, beside units', [
    setCommand(),
    listCommand(),
    showCommand(),
    deleteCommand(),
  ])

const setCommand = () =>
  command('set', 'bring a document into search, or update it')
    .argument('<file>', 'its text; - for standard input')
    .option('--title <text>', 'default: as its front matter says, or its first heading or line')
    .option('--language <code>', 'of its text; default: as its front matter says, or found out')
    .option(
      '--source-ref <ref>',
      'where it comes from: under it, it is the same document; default: the file’s name',
    )
    .workspace(ONLY)
    .examples('To work with its parts one by one, cut it into units instead: `stagedoor mark FILE`.')
    .run(async (session, file) => {
      const { options, output } = session
      const given = await readText(decodeUtf8((await readBytesInput(file))!, file))
      const { body } = given
      const language = options.language ?? given.language
      const source_ref = options.sourceRef ?? (file === '-' ? 'standard input' : basename(file))
      const title = options.title ?? given.title ?? titleOf(body, source_ref)
      const { transaction, workspace } = await openSearchScope(session)
      const document_id = await transaction((client) =>
        setDocument(client, workspace, { source_ref, title, body, language }),
      )
      output.result(
        { document_id, source_ref, title },
        `${pc.bold(title)} ${pc.dim(source_ref)}, ${formatBytes(Buffer.byteLength(body))}`,
        ['It is in search in about two minutes, or now', 'stagedoor search flush'],
      )
    })

/** What it says of itself between `---` lines is no text of it. */
async function readText(text: string) {
  const [block] = /^---[ \t]*\r?\n(?:[\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  if (block === undefined) return { body: text }
  // Loaded here: the parser takes a third of a second.
  const { readFrontMatter } = await import('../units/marking/mark.ts')
  const { title, language } = readFrontMatter(block)
  const body = text.slice(block.length).replace(/^\s*\n/, '')
  // A line at the beginning and at the end of a text is no front matter.
  if ((title ?? language) === undefined || body.trim() === '') return { body: text }
  return { body, title, language }
}

function titleOf(body: string, otherwise: string): string {
  const line = body.split('\n').find((one) => /\S/.test(one))
  const title = line?.replace(/^#+\s*/, '').trim()
  return title ? [...title].slice(0, 120).join('') : otherwise
}

const listCommand = () =>
  command('list', 'documents that are searched, by where they come from')
    .workspace(ONLY)
    .limit(50)
    .option('--after <source-ref>', 'the page after this one')
    .run(async (session) => {
      const { output, options } = session
      const { pool, workspace } = await openSearchScope(session)
      const documents = await searchedDocuments(pool, workspace, options)
      const isFirst = options.after === undefined
      output.list(
        documents,
        DOCUMENT_COLUMNS,
        isFirst ? 'There are no documents: units alone are searched.' : 'No document is left.',
        nextPage(documents, options.limit, ({ source_ref }) => source_ref),
      )
      output.next(documents.length === 0 && isFirst && ['Bring one in', 'stagedoor search document set FILE'])
    })

const DOCUMENT_COLUMNS: Column<SearchedDocument>[] = [
  { title: 'from', value: (one) => one.source_ref },
  { title: 'search', value: (one) => one.freshness, paint: paintFreshness },
  { title: 'units', value: (one) => one.units },
  { title: 'size', value: (one) => formatBytes(one.bytes) },
  { title: 'changed', value: (one) => formatRelativeTime(one.updated_at) },
  { title: 'title', value: (one) => one.title, shrinkTo: 20 },
]

const showCommand = () =>
  command('show', 'what a document says, as search has it')
    .argument('<document>', DOCUMENT)
    .workspace(ONLY)
    .actor()
    .run(async (session, name) => {
      const { output } = session
      const scope = await openSearchScope(session)
      const id = await requireDocument(scope, name)
      const document = await scope.transaction((client) => readDocument(client, id))
      output.result(document, () => {
        const { title, source_ref, body } = document
        output.line(`${pc.bold(printableLine(title))}  ${pc.dim(printableLine(source_ref))}\n`)
        output.line(printable(body))
      })
    })

const deleteCommand = () =>
  command('delete', 'delete a document from search; units that were cut from it stay')
    .argument('<document>', DOCUMENT)
    .workspace(ONLY)
    .run(async (session, name) => {
      const scope = await openSearchScope(session)
      const document_id = await requireDocument(scope, name)
      await scope.transaction((client) => deleteDocument(client, document_id))
      session.output.result({ document_id }, 'It leaves search within a minute.')
    })

async function requireDocument({ pool, workspace }: SearchScope, name: string): Promise<string> {
  const id = await findDocumentId(pool, workspace, name)
  if (id !== undefined) return id
  const hint = '`stagedoor search document list` shows them.'
  throw new StagedoorError('document_unknown', { document: name }, { hint })
}
