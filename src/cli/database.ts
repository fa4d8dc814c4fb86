/** `stagedoor migrate`, `doctor`, `config`, `login` and `sql`: the database itself. */
import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import pc from 'picocolors'
import { type Config, describeConfig, directUrl, readConfig } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { withClient } from '../kernel/postgres/connection.ts'
import { findRunning } from '../kernel/postgres/embedded/server.ts'
import { isUpToDate, type MigrationPlan, migrate, planMigration } from '../kernel/postgres/migrate/migrate.ts'
import { openDatabase } from '../kernel/postgres/open.ts'
import { argumentInvalid } from './arguments.ts'
import { command } from './command.ts'
import { plural } from './format.ts'
import { formatTable, type Output } from './terminal.ts'
import { printableLine, prose } from './text.ts'

const UP_TO_DATE = 'Nothing to do: the database is at this version.'

export const migrateCommand = () =>
  command('migrate', 'bring the database to this version')
    .option('--plan', 'only say what would be done')
    .examples(
      `Runs as the login of DATABASE_DIRECT_URL (or DATABASE_URL), which owns the database and has CREATEROLE;
one that does not own it needs CREATE on it, and USAGE and CREATE on the schema public with grant option.
Processes of an older version go on meanwhile. A migration that takes away what they use waits until they have stopped.
Where a right is missing, nothing is changed and the statements for an administrator are printed. Two at once: one waits.`,
    )
    .run(
      async ({ options, output, config, database }) => {
        const url = directUrl(config) ?? (await database()).directUrl
        if (options.plan) {
          const plan = await planMigration({ url })
          return output.result(plan, () => {
            if (isUpToDate(plan)) output.done(UP_TO_DATE)
            else printMigrationPlan(output, plan)
            printOlderProcesses(output, plan)
          })
        }
        const done = await migrate({ url, progress: (step) => output.note(pc.dim(`  ${step}`)) })
        output.result(done, () => {
          output.done(isUpToDate(done) ? UP_TO_DATE : `Migrated: ${migrationSummary(done)}.`)
          if (done.bootstrap.some((statement) => statement.includes('create role stagedoor_api')))
            output.line(
              `\nThe API logs in as stagedoor_api, which has no password yet. ${pc.bold('stagedoor login --reset')} gives it one.`,
            )
          printOlderProcesses(output, done)
        })
      },
      { prepare: false },
    )

/** They go on as they are; what comes next is up to whoever upgrades. */
function printOlderProcesses(output: Output, { older_processes: older }: MigrationPlan): void {
  if (older.length === 0) return
  output.warn(
    `${older.length === 1 ? 'One process runs' : `${older.length} processes run`} an older version. Upgrade servers and gateways first, then those that drive executions, then workers:`,
  )
  output.records(older, [
    { title: 'host', value: ({ host }) => printableLine(host) },
    { title: 'process', value: ({ pid }) => pid },
    { title: 'version', value: ({ version }) => printableLine(version) },
    { title: 'runs', value: ({ roles }) => roles.join(', ') },
  ])
}

function printMigrationPlan(output: Output, plan: MigrationPlan): void {
  const sections: [string, readonly string[]][] = [
    ['Roles, memberships and schemas', plan.bootstrap],
    ['Migrations', plan.migrations],
    ['Migrations that wait until processes of an older version have stopped', plan.waiting_migrations],
    ['Routines and views to create or replace', plan.routines],
    ['Routines and views to drop', plan.removed_routines],
  ]
  for (const [title, lines] of sections) {
    if (lines.length === 0) continue
    output.line(pc.bold(title))
    for (const line of lines) output.line(`  ${line.replaceAll('\n', '\n  ')}`)
    output.line()
  }
  output.line(`Nothing was changed. Next: ${pc.bold('stagedoor migrate')}`)
}

/** 23 migrations, 410 routines and views */
export function migrationSummary(plan: MigrationPlan): string {
  const counts: [number, string][] = [
    [plan.bootstrap.length, 'roles and schemas statements'],
    [plan.migrations.length, 'migrations'],
    [plan.waiting_migrations.length, 'migrations that wait'],
    [plan.routines.length, 'routines and views'],
    [plan.removed_routines.length, 'dropped'],
  ]
  return counts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])).join(', ')
}

export const doctorCommand = () =>
  command('doctor', 'compare the database with what this version expects')
    .examples('Changes nothing. Exits with 7 when something differs; each difference says how to correct it.')
    .run(
      async ({ output, config, database }) => {
        const { kind, directUrl: url, apiUrl } = await database()
        const knowsApi = kind === 'embedded' || config.databaseDirectUrl !== undefined
        // Loaded here: no other command compares.
        const { examine } = await import('../kernel/postgres/doctor/doctor.ts')
        const report = await examine({ url, ...(knowsApi && { apiUrl }) })
        output.result(report, () => {
          for (const { object, problem, remedy } of report.findings) {
            const [first, ...rest] = prose(`${object}: ${problem}`, { indent: 2 }).split('\n')
            output.line([`${pc.red('✖')} ${boldStart(first!, object)}`, ...rest].join('\n'))
            output.line(`  ${pc.dim(prose(remedy, { indent: 2 }))}`)
          }
          for (const note of report.notes) output.line(`${pc.dim('·')} ${prose(note, { indent: 2 })}`)
          if (!report.ok) return
          const counts = Object.entries(report.checked).map(([what, count]) =>
            plural(count, what, pluralOf(what)),
          )
          output.done(prose(`All is as expected: ${counts.join(', ')}.`, { indent: 2 }))
          output.dim(`  PostgreSQL ${report.server_version}, Stagedoor ${report.stagedoor_version}`)
        })
        if (!report.ok) throw new StagedoorError('drift', { count: report.findings.length })
      },
      { prepare: false },
    )

/** Measured without its colours. */
function boldStart(line: string, beginning: string): string {
  return line.startsWith(beginning) ? pc.bold(beginning) + line.slice(beginning.length) : line
}

/** index → indexes, policy → policies */
function pluralOf(what: string): string {
  return what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}${what.endsWith('x') ? 'es' : 's'}`
}

export const configCommand = () =>
  command('config', 'print the settings in force and where they came from, secrets masked').run(
    ({ options, output }) => {
      // Not the session's, which only warns of an unknown setting.
      const config = readConfig(process.env, options.home === undefined ? {} : { home: options.home })
      const [unknown] = config.unknown
      if (unknown) throw new StagedoorError('config_unknown', { ...unknown })
      const lines = describeConfig(config)
      output.result(lines, () =>
        output.records(lines, [
          { title: 'setting', value: ({ setting }) => setting, paint: pc.bold },
          { title: 'value', value: ({ value }) => value || '(unset)' },
          { title: 'from', value: ({ source }) => source },
          { title: 'what it is', value: ({ about }) => about, dim: true },
        ]),
      )
    },
  )

export const loginCommand = () =>
  command(
    'login',
    'print the addresses of the database: for psql, and for DATABASE_URL, DATABASE_DIRECT_URL, PLAYBOOK_DATABASE_URL and PROPOSAL_DATABASE_URL',
  )
    .option(
      '--reset',
      'on your own database: give stagedoor_api, stagedoor_worker, stagedoor_playbook and stagedoor_proposer new passwords first',
    )
    .examples(
      `On the embedded server: the addresses of the running one. They hold passwords; keep them to yourself.
On your own database: with --reset, as the login that migrated, once after the first migrate. The API then runs with the
addresses that are printed; a running one must be restarted with them. stagedoor_playbook is what the sql of playbooks runs
as: it has no right on anything until you grant it some. stagedoor_proposer is what proposed SQL is worked out as.`,
    )
    .run(async ({ options, output, config }) => {
      const addresses = await findAddresses(config, options.reset === true)
      output.result(addresses, () => {
        for (const [name, address] of Object.entries(addresses))
          output.line(`export ${name.toUpperCase()}='${address}'`)
      })
    })

/** By the names of their settings. */
type Addresses = Record<string, string>

async function findAddresses(config: Config, reset: boolean): Promise<Addresses> {
  const url = directUrl(config)
  if (url !== undefined) return resetPasswords(url, reset)
  if (!(await findRunning(config.home))) {
    throw new StagedoorError(
      'not_found',
      { what: `running Stagedoor on ${config.home}` },
      { hint: 'The embedded server has an address while it runs: start it with `npm start`.' },
    )
  }
  const database = await openDatabase(config, { share: true })
  return {
    database_url: database.apiUrl,
    database_direct_url: database.directUrl,
    playbook_database_url: database.playbookUrl!,
    proposal_database_url: database.proposalUrl!,
  }
}

const LOGINS = {
  database_url: 'stagedoor_api',
  database_direct_url: 'stagedoor_worker',
  playbook_database_url: 'stagedoor_playbook',
  proposal_database_url: 'stagedoor_proposer',
}

async function resetPasswords(url: string, reset: boolean): Promise<Addresses> {
  if (!reset) {
    throw argumentInvalid(
      'Passwords cannot be read back. With --reset stagedoor_api, stagedoor_worker, stagedoor_playbook and stagedoor_proposer get new ones, which are printed once',
    )
  }
  const addresses: Addresses = {}
  await withClient(url, async (client) => {
    for (const [setting, login] of Object.entries(LOGINS)) {
      const address = new URL(url)
      address.username = login
      address.password = randomBytes(24).toString('base64url')
      await client.query(`alter role ${login} password ${pg.escapeLiteral(address.password)}`)
      addresses[setting] = address.toString()
    }
  })
  return addresses
}

// SQL as the login that migrates, for people who have no psql.

const MAX_SHOWN_ROWS = 1000

export const sqlCommand = () =>
  command('sql', 'run SQL on the database, as the login that migrates it')
    .argument('[statements...]', 'several with ; between; none: from standard input')
    .examples(
      `  $ stagedoor sql "create table orders (id int primary key, status text)"
  $ stagedoor sql < tables.sql

Several statements are one transaction. You change your own tables here, without any gate and any review:
for data that has to be reviewed there is \`stagedoor ingest\`.`,
    )
    .run(async ({ output, database }, given) => {
      const statements = given.length > 0 ? given.join(' ') : await text(process.stdin)
      if (statements.trim() === '') throw argumentInvalid('There is no statement to run')
      const answer: unknown = await withClient((await database()).directUrl, (client) =>
        client.query({ text: statements, rowMode: 'array', types: AS_PRINTED }),
      )
      const results = (Array.isArray(answer) ? answer : [answer]) as Result[]
      output.result(results.map(rowsAsObjects), () => {
        for (const result of results) output.line(resultText(result))
      })
    })

/** date, time, timetz, timestamp, timestamptz, interval, bytea: a JavaScript value would depend on the time zone of this process. */
const PRINTED = new Set([1082, 1083, 1266, 1114, 1184, 1186, 17])
const PRINTED_ARRAYS = new Set([1182, 1183, 1270, 1115, 1185, 1187, 1001])
const TEXT = 25
const TEXT_ARRAY = 1009

/** Dates and times as the text that PostgreSQL prints. */
const AS_PRINTED: pg.CustomTypesConfig = {
  getTypeParser(type: number, format?: 'text' | 'binary') {
    const shown = PRINTED.has(type) ? TEXT : PRINTED_ARRAYS.has(type) ? TEXT_ARRAY : type
    return pg.types.getTypeParser(shown, format as 'text')
  },
}

type Result = pg.QueryArrayResult<unknown[]>

function rowsAsObjects({ command, rowCount, fields, rows }: Result): object {
  const objects = rows.map((row) => Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
  return { command, row_count: rowCount, rows: objects }
}

function resultText({ command, rowCount, fields, rows }: Result): string {
  const count = rowCount === null ? '' : ` ${rowCount}`
  if (fields.length === 0) return `${pc.green('✔')} ${command}${count}`
  const cells = rows.slice(0, MAX_SHOWN_ROWS).map((row) => row.map(cellText))
  const names = fields.map(({ name }) => name)
  const lines = formatTable([names, ...cells], (cell, _column, row) => (row === 0 ? pc.dim(cell) : cell))
  const more = rows.length > MAX_SHOWN_ROWS ? `, the first ${MAX_SHOWN_ROWS} shown` : ''
  return `${lines}\n${pc.dim(`(${plural(rows.length, 'row')}${more})`)}`
}

function cellText(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
