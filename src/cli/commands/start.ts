import { Command } from 'commander'
import pc from 'picocolors'
import { type AppRole, findMember } from '../../access/members.ts'
import { createSignInCode } from '../../access/sign-in-codes.ts'
import { type Client, withClient } from '../../db/connection.ts'
import { createHealthProbe } from '../../db/health.ts'
import { planMigration } from '../../db/migrate/migrate.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { StagedoorError } from '../../errors.ts'
import { gateHistory, setGate } from '../../gates/gates.ts'
import { workspaceOf } from '../acting.ts'
import { configOf, type GlobalOptions, logOption, outputOf } from '../context.ts'
import { type Output, prose } from '../output.ts'
import { addClient } from './client.ts'
import { summary } from './migrate.ts'
import { handlersFrom } from './worker/handlers-from.ts'

/** Opened on the very first start of the embedded server, so that a newcomer can try everything. */
const DEMO_GATES = [
  'iu_core.staging_writes_enabled',
  'iu_core.staging_cleanup_enabled',
  'queue.consumer_dispatch.enabled',
]

/** Added then, too: an export of an ad platform can be taken at once. */
const DEMO_DATASET = 'ads'
const DEMO_CLIENT = 'Northwind'

const SIGN_IN_ROLES: readonly AppRole[] = ['operator', 'reviewer']

export function startCommand(): Command {
  return new Command('start')
    .description('run API, workers and console in this process')
    .option('--port <port>', 'port to listen on (PORT)')
    .option(
      '--handlers <file>',
      'handlers of yours: its default export for jobs, playbookHandlers for playbooks; those of other processes count, too',
    )
    .option('--no-playbooks', 'leave executions to `stagedoor worker`')
    .addOption(logOption())
    .addHelpText(
      'after',
      `
Without DATABASE_URL: starts the embedded PostgreSQL, migrates it, and on the very first start opens the demo gates
and adds the dataset ads with one client, Northwind.
With DATABASE_URL: connects only. It never migrates, opens a gate or loads data; if the database is not ready it
says so, with the next command. Ctrl-C stops everything cleanly.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & { port?: string; handlers?: string; log?: string; playbooks: boolean }
      >()
      const output = outputOf(options)
      const config = configOf(options, {
        ...(options.port !== undefined && { port: options.port }),
        ...(options.log !== undefined && { logFormat: options.log }),
      })
      const step = (text: string) => output.note(pc.dim(`  ${text}`))
      // Loaded here, because the other commands need no HTTP server.
      const { requireFreePort, serve, startUntilStopped, untilStopped, untilStoppedOrLost } = await import(
        '../serve.ts'
      )
      const theirs = await handlersFrom(options.handlers)
      await requireFreePort(config)
      const database = await openDatabase(config, { share: false, notice: output.note, progress: step })
      let first: FirstStart
      try {
        first = await prepare(database)
      } catch (error) {
        await database.close()
        throw error
      }
      const stopped = untilStopped()
      const serving = await startUntilStopped(
        stopped,
        serve(config, database, { ...theirs, playbooks: options.playbooks }),
      )
      try {
        const links = await signInLinks(database, serving.url)
        const added = first.client === undefined ? {} : { dataset: DEMO_DATASET, client: first.client }
        output.result({ url: serving.url, sign_in: links, opened_gates: first.gates, added }, () =>
          greet(output, serving.url, links, first, database),
        )
        await untilStoppedOrLost(stopped, database)
        output.note(pc.dim('\n  stopping…'))
      } finally {
        await serving.stop()
      }
    })
}

interface FirstStart {
  /** The gates that were opened. */
  readonly gates: readonly string[]
  /** The client that was added. */
  readonly client: string | undefined
}

/** The user's own database is only looked at. */
async function prepare(database: Database): Promise<FirstStart> {
  if (database.kind === 'external') {
    await requireMigrated(database)
    return NOT_THE_FIRST
  }
  return withClient(database.directUrl, prepareDemo, { role: 'workflow_admin' })
}

const NOT_THE_FIRST: FirstStart = { gates: [], client: undefined }

/** Asked as the worker: a running API needs no login that may migrate. Where that login is given, it is told how much is missing. */
async function requireMigrated(database: Database): Promise<void> {
  const checks = await withClient(database.workerUrl, createHealthProbe(), { role: 'dot_executor' }).catch(
    (error: unknown) => {
      // Not even our roles or schemas are there.
      if (error instanceof StagedoorError && ['migrations_pending', 'permission_denied'].includes(error.code))
        return []
      throw error
    },
  )
  if (checks.some((check) => check.name === 'migrations' && check.ok)) return
  const plan = await planMigration({ url: database.directUrl })
  throw new StagedoorError('migrations_pending', { pending: summary(plan) })
}

/** All or none, and once: whoever closes a gate again must find it closed after the next start. */
async function prepareDemo(client: Client): Promise<FirstStart> {
  if ((await gateHistory(client)).length > 0) return NOT_THE_FIRST
  await client.query('begin')
  for (const gate of DEMO_GATES) await setGate(client, gate, true, 'first start of the embedded server')
  const added = await addDemoClient(client)
  await client.query('commit')
  return { gates: DEMO_GATES, client: added }
}

/** Whoever has added the dataset before the first start has said themselves whose data there will be. */
async function addDemoClient(client: Client): Promise<string | undefined> {
  const { addPack, PACKS } = await import('../../ingest/packs.ts')
  const { rows } = await client.query('select from iu_core.ingest_dataset limit 1')
  const { client: clients } = PACKS[DEMO_DATASET]!
  if (rows.length > 0 || !clients) return undefined
  await addPack(client, DEMO_DATASET)
  return (await addClient(client, { client: clients }, await workspaceOf(client, undefined), DEMO_CLIENT))
    .name
}

async function signInLinks(database: Database, url: string): Promise<Record<string, string>> {
  if (database.kind === 'external' || database.jwtSecret === undefined) return {}
  return withClient(
    database.directUrl,
    async (client) => {
      const links: Record<string, string> = {}
      for (const role of SIGN_IN_ROLES) {
        const member = await findMember(client, { role })
        if (!member) continue
        const who = { subject: member.user_id, role: member.database_role }
        links[role] = `${url}/#code=${await createSignInCode(client, who)}`
      }
      return links
    },
    { role: 'workflow_admin' },
  )
}

function greet(
  output: Output,
  url: string,
  links: Record<string, string>,
  first: FirstStart,
  database: Database,
): void {
  output.line(`\n${pc.green('●')} ${pc.bold('Stagedoor')} runs at ${pc.bold(url)}`)
  output.line(
    pc.dim(
      `  API reference ${url}/api/docs · ${database.kind === 'embedded' ? 'embedded PostgreSQL' : 'your PostgreSQL'}`,
    ),
  )
  if (first.gates.length > 0) {
    output.line('\n  First start: these gates were opened for you to try things out')
    for (const gate of first.gates) output.line(`    ${gate}`)
  }
  if (first.client !== undefined) {
    output.line(
      `\n  First start: the dataset ${DEMO_DATASET} was added, with the client ${first.client}. Bring an export:`,
    )
    const file = isClone() ? 'examples/ads/meta-week-45.csv' : 'FILE'
    output.line(`    ${asTyped(`ingest ${file} --dataset ${DEMO_DATASET} --platform meta --as operator`)}`)
  }
  for (const [role, link] of Object.entries(links)) {
    output.line(`\n  Sign in as ${role} (12 hours)\n  ${link}`)
  }
  if (database.kind === 'external') output.line(`\n  ${prose(howToSignIn(database), { indent: 2 })}`)
  output.line(pc.dim('\n  Ctrl-C stops everything; the data stays.'))
}

/** On one's own database no link is printed: who members are is the administrator's to say. */
function howToSignIn({ jwtSecret }: Database): string {
  return jwtSecret === undefined
    ? 'Sign in with a token of your identity provider.'
    : `Sign in with a token; in another terminal with the same settings: \`${asTyped('token --as operator')}\`, and \`--as reviewer\` for whoever approves.`
}

/** In a clone the command line is a script of npm; installed it is on the PATH. */
function isClone(): boolean {
  const { npm_lifecycle_event: script, npm_package_name: name } = process.env
  return name === 'stagedoor' && (script === 'start' || script === 'stagedoor')
}

/** A command that can be pasted as it stands. */
function asTyped(words: string): string {
  return `${isClone() ? 'npm run -s stagedoor --' : 'stagedoor'} ${words}`
}
