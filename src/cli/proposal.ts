/** `stagedoor propose` and `stagedoor proposal`: pull requests for SQL, and the tables that are open to them. */
import { text } from 'node:stream/consumers'
import pc from 'picocolors'
import type { IngestResult, PipelineDeps } from '../ingest/pipeline.ts'
import { listPlanRows } from '../ingest/plan.ts'
import {
  closeProposalTable,
  listProposalTables,
  openProposalTable,
  type ProposalTable,
  proposalGrants,
  propose,
  proposeAgain,
} from '../ingest/proposals/proposals.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Client, createPool } from '../kernel/postgres/connection.ts'
import { quoteName } from '../kernel/postgres/names.ts'
import { argumentInvalid, integerBetween, parseList } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { formatAge } from './format.ts'
import { uploadId } from './ids.ts'
import { grantAsOwner } from './owner-grants.ts'
import { type Session, workspaceIfNamed, workspaceOf } from './session.ts'
import type { Column, Output } from './terminal.ts'
import { printableLine } from './text.ts'
import { awaitsApproval, planRefused, uploadNextSteps } from './upload-next-steps.ts'
import { planRowLines } from './upload-plan.ts'
import { loadUploadView, printUpload } from './upload-show.ts'

const UNTIL = ['planned', 'submitted', 'promoted'] as const
const MAX_SHOWN_ROWS = 20

export const proposeCommand = () =>
  command('propose', 'a pull request in SQL: one statement, worked out, reviewed, promoted, undone')
    .argument('[statement...]', 'one INSERT, UPDATE, DELETE or MERGE; none: from standard input')
    .workspace()
    .option('--title <text>', 'what people call it; default: the statement')
    .option('--key <text>', 'the same key gives the same proposal: for programs that try again')
    .option('--again <upload>', 'instead of a statement: that of this upload once more', uploadId)
    .option('--until <stage>', 'how far to go', UNTIL, 'submitted')
    .option('--dry-run', 'work it out and show the plan, never to be promoted')
    .actor({ backEndRole: 'service_role' })
    .examples(
      `  $ stagedoor proposal open public.products
  $ stagedoor propose "update products set price = price * 1.1 where name like 'Zelt%'" --as operator
  $ stagedoor propose --again 128
  $ stagedoor propose --dry-run < cleanup.sql

The statement runs as the login stagedoor_proposer, which has rights on open tables alone, and is rolled back. What is promoted later are
exactly the rows that it gave; if somebody has changed them since, nothing is.`,
    )
    .run(async (session, words) => {
      const { options, transaction } = session
      const { again, title, key, until, dryRun } = options
      if (again !== undefined && (words.length > 0 || key !== undefined))
        throw argumentInvalid('--again takes the statement of the upload: give no other, and no --key')
      const result = await withDeps(session, async (deps) => {
        const flags = { actor: { transaction }, title, until, dryRun }
        if (again !== undefined) return proposeAgain(deps, again, flags)
        const statement = await statementOf(words)
        const workspaceId = await transaction((client) => workspaceOf(client, options.workspace))
        return propose(deps, statement, { ...flags, key, workspaceId })
      })
      await printProposal(session, result)
    })

async function statementOf(words: readonly string[]): Promise<string> {
  if (words.length > 0) return words.join(' ')
  if (process.stdin.isTTY) throw argumentInvalid('Give a statement, or pipe one into this command')
  return text(process.stdin)
}

async function withDeps<T>(session: Session, work: (deps: PipelineDeps) => Promise<T>): Promise<T> {
  const { proposalUrl } = await session.database()
  const proposalPool =
    proposalUrl === undefined ? undefined : createPool(proposalUrl, { max: 1, purpose: 'proposals' })
  try {
    return await work({ pool: await session.pool(), home: session.config.home, proposalPool })
  } finally {
    await proposalPool?.end()
  }
}

async function printProposal(session: Session<Session['options']>, result: IngestResult): Promise<void> {
  const { output, options, transaction } = session
  const id = result.upload.upload_id
  const view = await loadUploadView(session, id)
  const listed = await transaction((client) => listPlanRows(client, id, { limit: MAX_SHOWN_ROWS + 1 }), {
    upload: id,
  })
  const rows = listed.slice(0, MAX_SHOWN_ROWS)
  const more = listed.length > rows.length
  const steps = uploadNextSteps(view, options)
  const next = steps.map(([what, command]) => ({ what, command }))
  output.result(
    { created: result.created, upload: view.upload, rows, more, next },
    () => {
      if (!result.created) output.warn('This key was proposed already. Nothing was done.\n')
      printUpload(output, view)
      output.line()
      output.line(planRowLines(rows, view))
      if (more) output.dim(`  the first ${rows.length}; all of them: stagedoor upload plan ${id}`)
    },
    ...steps,
  )
  const { stopped } = result
  if (stopped?.code === 'plan_refused') throw planRefused(view.upload)
  if (stopped !== undefined) throw stopped.code === 'approval_missing' ? awaitsApproval(view) : stopped
}

export const proposalCommand = () =>
  commandGroup(
    'proposal',
    'which tables are open to pull requests in SQL',
    [tablesCommand(), openCommand(), closeCommand(), setupCommand()],
    `
  $ stagedoor proposal open public.products --operations update,insert --columns price,stock
  $ stagedoor proposal tables
  $ stagedoor proposal setup              what a database of your own needs for it
  $ stagedoor proposal close public.products`,
  )

const tablesCommand = () =>
  command('tables', 'the tables that are open, and those that were closed')
    .workspace('only these')
    .actor({ backEndRole: 'service_role' })
    .run(async ({ options, output, transaction, isMember }) => {
      const tables = await transaction(async (client) =>
        listProposalTables(
          client,
          isMember
            ? await workspaceOf(client, options.workspace)
            : await workspaceIfNamed(client, options.workspace),
        ),
      )
      output.list(tables, COLUMNS, 'No table is open: `stagedoor proposal open public.products` opens one.')
    })

const COLUMNS: Column<ProposalTable>[] = [
  { title: 'table', value: ({ target }) => target, paint: pc.bold },
  { title: 'state', value: stateOf, shrinkTo: 12 },
  { title: 'operations', value: ({ operations }) => operations.join(', ') },
  { title: 'columns', value: ({ columns }) => columns?.join(', ') ?? 'all', shrinkTo: 10 },
  { title: 'key', value: ({ key }) => key.join(', ') },
  { title: 'rows', value: ({ max_rows }) => `up to ${max_rows}` },
  {
    title: 'opened',
    value: ({ opened_by, opened_at }) => `${formatAge(opened_at)} ago by ${opened_by}`,
    shrinkTo: 10,
  },
]

function stateOf({ closed_at, not_ready }: ProposalTable): string {
  if (closed_at !== null) return 'closed'
  return not_ready === null ? 'open' : `not ready: ${not_ready}`
}

const openCommand = () =>
  command('open', 'let members propose statements on a table of yours, or change what of it is open')
    .argument('<table>', 'such as public.products')
    .option('--operations <list>', 'insert, update, delete; default: all, or as before', parseList)
    .option('--columns <list>', 'that a statement may set; default: all but the key, or as before', parseList)
    .option('--all-columns', 'all but the key again')
    .conflicts('columns')
    .option('--allow-triggers', 'its triggers may run while a statement is worked out: you know what they do')
    .option('--max-rows <n>', 'of one proposal; default 10,000', integerBetween(1, 100_000))
    .workspace('whose members may propose; default: the only one there is')
    .run(async (session, table) => {
      const { options, output, administrator } = session
      const { operations, columns, allColumns, allowTriggers, maxRows } = options
      const opened = await administrator(async (client) =>
        openProposalTable(client, qualified(table), {
          workspaceId: await workspaceOf(client, options.workspace),
          operations,
          columns: allColumns ? [] : columns,
          allowTriggers,
          maxRows,
        }),
      )
      const missing = await bringRights(session, opened.target)
      output.result({ ...opened, statements: missing }, () => {
        output.done(`${pc.bold(opened.target)} is open to ${opened.operations.join(', ')}`)
        output.dim(
          `  ${opened.columns === null ? 'all columns but the key' : opened.columns.join(', ')}; rows are known by ${opened.key.join(', ')}; up to ${opened.max_rows} rows a proposal`,
        )
        for (const trigger of opened.triggers) output.dim(`  trigger ${printableLine(trigger)}`)
        printMissing(output, missing)
        output.next(['Propose a change', `stagedoor propose "update ${opened.target} set …" --as operator`])
      })
    })

const closeCommand = () =>
  command('close', 'take a table back: statements are refused, and plans of earlier ones are not promoted')
    .argument('<table>', 'as `proposal tables` shows it')
    .workspace()
    .run(async (session, table) => {
      const { options, output, administrator } = session
      const closed = await administrator(async (client) =>
        closeProposalTable(client, qualified(table), await workspaceOf(client, options.workspace)),
      )
      const missing = await bringRights(session, closed.target)
      output.result({ ...closed, statements: missing }, () => {
        output.done(`${pc.bold(closed.target)} is closed`)
        printMissing(output, missing)
      })
    })

const setupCommand = () =>
  command('setup', 'print what the login stagedoor_proposer needs in this database; runs nothing')
    .examples(
      `On a database of your own: run the statements as the owner of the tables, then set PROPOSAL_DATABASE_URL to what
\`stagedoor login --reset\` prints for stagedoor_proposer. On the embedded server \`proposal open\` does all of it.`,
    )
    .run(async (session) => {
      const { output, administrator } = session
      const statements = await administrator(async (client) => {
        const tables = await client.query<{ target: string }>(
          'select distinct target from iu_core.ingest_proposal_table order by 1',
        )
        const all = await databaseGrants(client)
        for (const { target } of tables.rows) all.push(...(await proposalGrants(client, target)))
        return all
      })
      const { proposalUrl } = await session.database()
      output.result({ statements, login_is_set: proposalUrl !== undefined }, () => {
        for (const statement of statements) output.line(statement)
        if (statements.length === 0) output.line('-- No table is open: stagedoor proposal open TABLE')
        if (proposalUrl === undefined)
          output.caution('PROPOSAL_DATABASE_URL is not set: `stagedoor login --reset` prints it.')
      })
    })

/** Its analysis needs a function in its own temporary schema, which is rolled back. PUBLIC has both rights where nobody took them away. */
async function databaseGrants(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ database: string; connects: boolean; temporary: boolean }>(
    `select current_database() as database, has_database_privilege('stagedoor_proposer', current_database(), 'connect') as connects,
            has_database_privilege('stagedoor_proposer', current_database(), 'temporary') as temporary`,
  )
  const { database, connects, temporary } = rows[0]!
  const name = quoteName(database)
  return [
    ...(connects ? [] : [`grant connect on database ${name} to stagedoor_proposer;`]),
    ...(temporary ? [] : [`grant temporary on database ${name} to stagedoor_proposer;`]),
  ]
}

/** On the embedded server the rights are granted here; on a database of the user's own the statements are returned, to be printed. */
async function bringRights(session: Session, target: string): Promise<readonly string[]> {
  const statements = await session.administrator(async (client) => [
    ...(await databaseGrants(client)),
    ...(await proposalGrants(client, target)),
  ])
  return (await session.isExternal()) ? statements : grantAsOwner(session, target, statements)
}

function printMissing(output: Output, statements: readonly string[]): void {
  if (statements.length === 0) return
  output.caution(
    'The owner of the table runs this, so that the login stagedoor_proposer has exactly these rights:',
  )
  for (const statement of statements) output.line(`    ${statement}`)
}

function qualified(table: string): string {
  if (/^\s*$/.test(table)) throw new StagedoorError('argument_invalid', { reason: 'Name a table' })
  return table.includes('.') ? table : `public.${table}`
}
