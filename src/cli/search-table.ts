/** `stagedoor search add-table`, `tables`, …: tables of the user in search, by routes that a second person reviews. */
import pc from 'picocolors'
import type { Client } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import {
  activateSearchTable,
  dryRunSearchTable,
  listSearchTables,
  registerSearchTable,
  removeSearchTable,
  requireSearchTable,
  rescanSearchTable,
  reviewSearchTable,
  type SearchTable,
} from '../search/tables.ts'
import { argumentInvalid, integerBetween, parseList } from './arguments.ts'
import { command } from './command.ts'
import { formatCount, formatRelativeTime, joinWords, plural } from './format.ts'
import { grantAsOwner, withOwnerGrants } from './owner-grants.ts'
import { type MemberNames, type Session, workspaceOf } from './session.ts'
import { type Column, type Fact, formatFacts, type NextStep, type Output, painter } from './terminal.ts'

const TABLE = 'as `stagedoor search tables` shows it, or as in SQL'

export const addTableCommand = () =>
  command('add-table', 'search a table of yours: registers its routes and starts their dry run')
    .argument('<table>', 'as in SQL: products, sales."Orders"')
    .option('--text <columns>', 'what is searched', parseList)
    .option('--title <column>', 'what a hit is called; default: the first line of its text')
    .option('--filter <columns>', 'by which a question can be narrowed: --filter category_id=2', parseList)
    .option('--language <code>', 'of the texts; default: found out, for each row')
    .option(
      '--grant',
      'run the grants that are missing, also for those who search, if this login may; the embedded server does so by itself',
    )
    .workspace('whose the rows are; default: the only one there is')
    .option('--workspace-column <column>', 'each row says whose it is')
    .conflicts('workspace')
    .examples(
      `  $ stagedoor search add-table public.products --text name --filter sku,category_id
  $ stagedoor search review-table products --as reviewer
  $ stagedoor search activate-table products --as reviewer

Nothing is searched before another person has reviewed and activated it. With other columns for the same table it is reviewed again.`,
    )
    .run(async (session, source) => {
      const { options, output, administrator, isExternal } = session
      const { text, title, filter, language, workspaceColumn, grant } = options
      if (text === undefined)
        throw argumentInvalid(
          'Say which columns are searched, with --text',
          'Example: stagedoor search add-table products --text name --filter category_id',
        )
      const external = await isExternal()
      const add = () =>
        administrator(async (client) => {
          const workspace_id =
            workspaceColumn === undefined ? await workspaceOf(client, options.workspace) : undefined
          const code = await registerSearchTable(client, {
            source,
            text,
            title,
            filter,
            language,
            workspace_id,
            workspace_column: workspaceColumn,
          })
          const known = await requireSearchTable(client, code)
          if (known.state === 'registered' || known.state === 'dry_run') await dryRunSearchTable(client, code)
          return requireSearchTable(client, code)
        })
      // On the embedded server all tables are this machine's; on one's own database nothing is granted unasked.
      const grants = grant === true || !external
      const added = await (grants ? withOwnerGrants(session, source, add) : add())
      if (grants && added.reader_grants.length > 0)
        await grantAsOwner(session, added.source, added.reader_grants)
      // What could not be granted is still missing, and printed.
      const table = await administrator((client) => requireSearchTable(client, added.code))
      const names = await session.memberNames()
      output.result(
        table,
        () => {
          output.done(
            table.state === 'dry_run'
              ? `${pc.bold(table.source)} is in dry run: its triggers are attached, and nothing is in search yet.`
              : `${pc.bold(table.source)} is unchanged.`,
          )
          printTable(output, table, names)
        },
        ...nextSteps(table, external),
      )
    })

export const tablesCommand = () =>
  command('tables', 'your own tables in search, and how far their rows are read')
    .actor()
    .run(async ({ output, transaction }) => {
      const example = pc.cyan('  stagedoor search add-table products --text name,description --title name')
      output.list(await transaction(listSearchTables), COLUMNS, `No table is searched yet:\n${example}`)
    })

const paintState = painter({
  green: ['active'],
  yellow: ['dry run', 'reviewed', 'registered'],
  red: ['stopped'],
})
const stateOf = ({ state }: SearchTable): string => state.replace('_', ' ')

const COLUMNS: Column<SearchTable>[] = [
  { title: 'table', value: (one) => one.code },
  { title: 'state', value: stateOf, paint: paintState },
  { title: 'rows', value: scanText },
  { title: 'text', value: (one) => one.text_columns.join(', ') },
  { title: 'filters', value: (one) => one.filter_columns.join(', ') || '–' },
  { value: (one) => one.stopped_reason, paint: (cell) => pc.red(cell), shrinkTo: 20 },
]

function scanText({ scan_state, scanned, scan_total, scan_skipped }: SearchTable): string {
  const skipped = scan_skipped !== '0' && `${formatCount(Number(scan_skipped))} without a workspace`
  switch (scan_state) {
    case 'none':
      return '–'
    case 'waiting':
      return 'waits for transactions that write the table'
    case 'scanning':
      return `${formatCount(Number(scanned))} of ${formatCount(Number(scan_total))} read`
    default:
      return joinWords([`${formatCount(Number(scanned))} read`, skipped], ', ')
  }
}

export const showTableCommand = () =>
  command('show-table', 'one table in search: what is read, its state, what to do next')
    .argument('<table>', TABLE)
    .actor()
    .run(async ({ output, transaction, isExternal, memberNames }, name) => {
      const table = await transaction((client) => requireSearchTable(client, name))
      const names = await memberNames()
      const show = () => {
        output.line(`${paintState(stateOf(table))}  ${pc.bold(table.code)}`)
        printTable(output, table, names)
      }
      output.result(table, show, ...nextSteps(table, await isExternal()))
    })

function printTable(output: Output, table: SearchTable, names: MemberNames): void {
  const { reviewed_by, activated_by, activated_at } = table
  const facts: Fact[] = [
    ['table', table.source],
    ['text', table.text_columns.join(', ')],
    ['title', table.title_column ?? 'the first line of the text'],
    ['filters', table.filter_columns.join(', ')],
    ['rows are known by', table.key_columns.join(', ')],
    ['language', table.language === 'und' ? 'found out, for each row' : table.language],
    ['workspace', table.workspace_column ? `as ${table.workspace_column} says` : table.workspace_id],
    ['rows', scanText(table)],
    ['stopped', table.stopped_reason],
    ['registered', `${formatRelativeTime(table.registered_at)} by ${names(table.registered_by)}`],
    ['reviewed', reviewed_by && `by ${names(reviewed_by)}`],
    ['activated', activated_at && `${formatRelativeTime(activated_at)} by ${names(activated_by!)}`],
    ['routes', table.routes.join(', ')],
    ['found by', table.readers.join(', ') || 'nobody: no role may read it'],
  ]
  output.line(formatFacts(facts, '    '))
  if (table.reader_grants.length === 0) return
  output.caution('Whoever may not read the table does not find its rows. Where they should, its owner runs:')
  for (const statement of table.reader_grants) output.line(`    ${statement}`)
}

function nextSteps({ code, state }: SearchTable, external: boolean): NextStep[] {
  const call = (action: string) =>
    `POST ${API_PREFIX}/search/tables/${code}/${action} with the reviewer’s token`
  switch (state) {
    case 'registered':
    case 'dry_run':
      return [
        ['See what its dry run recorded', `stagedoor route evidence search.${code}.update`],
        [
          'Another person reviews it',
          external ? call('review') : `stagedoor search review-table ${code} --as reviewer`,
        ],
      ]
    case 'reviewed':
      return [
        [
          'Let it be searched',
          external ? call('activate') : `stagedoor search activate-table ${code} --as reviewer`,
        ],
      ]
    case 'stopped':
      return [['It goes on by itself when the reason is gone; why', 'stagedoor issue list']]
    default:
      return [
        ['Search it', `stagedoor search <question> --table ${code}`],
        ['Do not wait for the quiet window', 'stagedoor search flush'],
      ]
  }
}

export const reviewTableCommand = () =>
  command('review-table', 'confirm that you have checked what is read and agree; not whoever added the table')
    .argument('<table>', TABLE)
    .option('--evidence <n>', 'how many lines of each route you checked', integerBetween(1, 1000), 1)
    .actor()
    .run((session, name) =>
      decideTable(session, name, {
        action: 'review',
        done: 'is reviewed',
        change: (client, code, actor) =>
          reviewSearchTable(client, code, { evidence: session.options.evidence, actor }),
      }),
    )

export const activateTableCommand = () =>
  command(
    'activate-table',
    'let a reviewed table be searched: its rows are read, and every change from now on',
  )
    .argument('<table>', TABLE)
    .actor()
    .run((session, name) =>
      decideTable(session, name, {
        action: 'activate',
        done: 'is active: its rows come into search now',
        change: activateSearchTable,
      }),
    )

interface TableChange {
  readonly action: 'review' | 'activate'
  readonly done: string
  readonly change: (client: Client, code: string, actor: string | undefined) => Promise<void>
}

async function decideTable(
  { output, decide, isExternal }: Session,
  name: string,
  { action, done, change }: TableChange,
): Promise<void> {
  const table = await decide(
    async (client, actor) => {
      const { code } = await requireSearchTable(client, name)
      await change(client, code, actor)
      return requireSearchTable(client, code)
    },
    {
      find: async (client) => (await requireSearchTable(client, name)).workspace_id,
      call: `POST ${API_PREFIX}/search/tables/${name}/${action}`,
    },
  )
  const show = () => output.done(`${pc.bold(table.source)} ${done}.`)
  output.result(table, show, ...nextSteps(table, await isExternal()))
}

export const rescanTableCommand = () =>
  command('rescan-table', 'read all rows of a table again, as after a restore that ran without triggers')
    .argument('<table>', TABLE)
    .run(async ({ output, administrator }, name) => {
      const table = await administrator(async (client) => {
        const { code } = await requireSearchTable(client, name)
        await rescanSearchTable(client, code)
        return requireSearchTable(client, code)
      })
      output.result(table, `All rows of ${pc.bold(table.source)} are read again.`, [
        'See how far it is',
        'stagedoor search tables',
      ])
    })

export const removeTableCommand = () =>
  command('remove-table', 'take a table out of search, with its routes; its rows are not touched')
    .argument('<table>', TABLE)
    .option('--yes', 'also if it is active')
    .run(async ({ options, output, administrator }, name) => {
      const { table, left } = await administrator(async (client) => {
        const table = await requireSearchTable(client, name)
        if (table.state === 'active' && !options.yes)
          throw argumentInvalid(
            `${table.source} is searched`,
            'With --yes it is found no more from now on; search forgets its rows within minutes.',
          )
        return { table, left: await removeSearchTable(client, table.code) }
      })
      output.result({ table: table.source, statements: left }, () => {
        output.done(`${pc.bold(table.source)} is not searched any more.`)
        if (left.length === 0) return
        output.line(
          `The owner of the table drops ${plural(left.length, 'trigger')}; until then they do nothing:`,
        )
        for (const statement of left) output.line(`  ${statement}`)
      })
    })
