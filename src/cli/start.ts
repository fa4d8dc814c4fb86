/** `stagedoor start`: API, workers and console in one process. */

import pc from 'picocolors'
import { findMember } from '../access/members.ts'
import { createSignInCode } from '../access/sign-in-codes.ts'
import { gateHistory, setGate } from '../gates/gates.ts'
import type { Serving } from '../http/serve.ts'
import { createClient, listDatasets } from '../ingest/datasets/registry.ts'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Client, withClient } from '../kernel/postgres/connection.ts'
import { createHealthProbe } from '../kernel/postgres/health.ts'
import { planMigration } from '../kernel/postgres/migrate/migrate.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { command } from './command.ts'
import { migrationSummary } from './database.ts'
import { chooseDemo, startDemo } from './demo.ts'
import { onCrash, startUntilStopped, untilStopped, untilStoppedOrLost } from './process.ts'
import { LOG_OPTION, workspaceOf } from './session.ts'
import type { Output } from './terminal.ts'
import { prose } from './text.ts'
import { loadHandlerFile } from './worker.ts'

/** Opened on the first start of the embedded server, so that a newcomer can try everything. */
const DEMO_GATES = [
  'iu_core.staging_writes_enabled',
  'iu_core.staging_cleanup_enabled',
  'iu_core.bulk_reference_checks_enabled',
  'queue.consumer_dispatch.enabled',
]

/** Registered on the first start as well, so that a newcomer can ingest an export of an ad platform at once. */
const DEMO_DATASET = 'ads'
const DEMO_CLIENT = 'Northwind'

const SIGN_IN_ROLES = ['operator', 'reviewer'] as const

export const startCommand = () =>
  command('start', 'run API, workers and console in this process')
    .option('--port <port>', 'port to listen on (PORT)')
    .option(
      '--handlers <file>',
      'handlers of yours: its default export for jobs, playbookHandlers for playbooks; those of other processes count, too',
    )
    .option('--no-playbooks', 'leave executions to `stagedoor worker`')
    .option('--no-gateway', 'with NATS_URL: hand no calls to remote workers')
    .option('--demo', 'load the demo: examples/weekly-report, one week at a client (STAGEDOOR_DEMO=on)')
    .option(
      '--no-demo',
      'load no demo (STAGEDOOR_DEMO=off); default: only on the first start of the embedded server',
    )
    .option(...LOG_OPTION)
    .examples(
      `Without DATABASE_URL: starts the embedded PostgreSQL, migrates it, and on the very first start opens the demo gates
and registers the dataset ads with one client, Northwind. Then it loads the demo in the background: uploads, reviews, a playbook's
execution, units and a dead letter, made through the API by the members. It is loaded once; what you change or delete of it stays so.
To be rid of it, stop, delete the data folder (STAGEDOOR_HOME), and start with --no-demo.
With DATABASE_URL: connects only. It never migrates or opens a gate, and loads data only with --demo; if the database is not ready it
says so, with the next command. Several servers may run on one database with the same STAGEDOOR_JWT_SECRET: \`stagedoor process list\`.
With NATS_URL it is also a gateway: \`stagedoor worker --handlers FILE\` on other machines needs NATS_URL alone, and no database.
Ctrl-C stops everything cleanly. Where another server runs, this one first answers 503 at /api/ready for STAGEDOOR_DRAIN_SECONDS (5) and
serves on, so that a load balancer leaves it.`,
    )
    .run(
      async ({ options, output, config, database: open }) => {
        // Loaded here, because the other commands need no HTTP server.
        const { requireFreePort, serve } = await import('../http/serve.ts')
        const { builtInJobs } = await import('../app/compose.ts')
        const { mcpRoutes } = await import('../mcp/http.ts')
        const { createLog, throttleOutageLog } = await import('../app/log.ts')
        const { handlers, playbookHandlers } = await loadHandlerFile(options.handlers)
        await requireFreePort(config)
        const database = await open()
        let serving: Serving | undefined
        let loading: ReturnType<typeof startDemo> | undefined
        try {
          const first = await prepare(database)
          const demo = await chooseDemo(database, {
            wanted: options.demo === undefined ? config.demo : options.demo ? 'on' : 'off',
            isFirstStart: first.gates.length > 0,
          })
          const stopped = untilStopped()
          const roles = {
            jobs: { handlers: { ...builtInJobs(config), ...demo?.handlers, ...handlers } },
            dispatcher: true,
            search: {},
            ...(options.playbooks && { playbooks: { handlers: playbookHandlers } }),
            gateway: options.gateway && config.natsUrl !== undefined,
          }
          const log = throttleOutageLog(createLog(config))
          serving = await startUntilStopped(
            stopped,
            serve(config, database, { log, onCrash, roles, mcp: mcpRoutes }),
          )
          const { url } = serving
          const links = await signInLinks(database, url)
          const added = first.client === undefined ? {} : { dataset: DEMO_DATASET, client: first.client }
          output.result({ url, sign_in: links, opened_gates: first.gates, added }, () =>
            printBanner(output, url, links, { first, database, config }),
          )
          if (demo?.loads) loading = startDemo({ config, database, url, output, log })
          await untilStoppedOrLost(stopped, database)
          output.note(pc.dim('\n  stopping…'))
          await serving.drain()
        } finally {
          await loading?.stop()
          await serving?.stop()
        }
      },
      { share: false, settingsFrom: { port: 'port', logFormat: 'log' } },
    )

interface FirstStart {
  /** The gates that were opened. */
  readonly gates: readonly string[]
  /** The client that was created. */
  readonly client: string | undefined
}

/** The user's own database is never changed. */
async function prepare(database: Database): Promise<FirstStart> {
  if (database.kind === 'external') {
    await requireMigrated(database)
    return NOT_FIRST_START
  }
  return withClient(database.directUrl, prepareDemo, { role: 'workflow_admin' })
}

const NOT_FIRST_START: FirstStart = { gates: [], client: undefined }

/** Asked as the worker, because a running API needs no login that may migrate. With such a login the error says what is pending. */
async function requireMigrated(database: Database): Promise<void> {
  const checks = await withClient(database.workerUrl, createHealthProbe(), { role: 'dot_executor' }).catch(
    (error: unknown) => {
      // Our roles or schemas do not exist yet.
      if (error instanceof StagedoorError && ['migrations_pending', 'permission_denied'].includes(error.code))
        return []
      throw error
    },
  )
  if (checks.some((check) => check.name === 'migrations' && check.ok)) return
  const plan = await planMigration({ url: database.directUrl })
  throw new StagedoorError('migrations_pending', { pending: migrationSummary(plan) })
}

/** All or none, and once: a gate that somebody closes must stay closed at the next start. */
async function prepareDemo(client: Client): Promise<FirstStart> {
  if ((await gateHistory(client)).length > 0) return NOT_FIRST_START
  await client.query('begin')
  for (const gate of DEMO_GATES) await setGate(client, gate, true, 'first start of the embedded server')
  const added = await createDemoClient(client)
  await client.query('commit')
  return { gates: DEMO_GATES, client: added }
}

/** Where a dataset exists before the first start, its owner has already chosen the clients. */
async function createDemoClient(client: Client): Promise<string | undefined> {
  const { registerPack, PACKS } = await import('../ingest/packs.ts')
  const { client: clients } = PACKS[DEMO_DATASET]!
  if (!clients || (await listDatasets(client)).length > 0) return undefined
  await registerPack(client, DEMO_DATASET)
  const workspace = await workspaceOf(client, undefined)
  return (await createClient(client, { client: clients }, workspace, DEMO_CLIENT)).name
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

/** `links` are those to sign in, by role. */
function printBanner(
  output: Output,
  url: string,
  links: Record<string, string>,
  { first, database, config }: { first: FirstStart; database: Database; config: Config },
): void {
  output.line(`\n${pc.green('●')} ${pc.bold('Stagedoor')} runs at ${pc.bold(url)}`)
  const server = database.kind === 'embedded' ? 'embedded PostgreSQL' : 'your PostgreSQL'
  output.dim(`  API reference ${url}${API_PREFIX}/docs · ${server}`)
  if (first.gates.length > 0) {
    output.line('\n  First start: these gates were opened for you to try things out')
    for (const gate of first.gates) output.line(`    ${gate}`)
  }
  if (first.client !== undefined) {
    output.line(
      `\n  First start: the dataset ${DEMO_DATASET} was registered, with the client ${first.client}. Bring an export:`,
    )
    const file = isClone() ? 'examples/ads/meta-week-45.csv' : 'FILE'
    output.line(`    ${asTyped(`ingest ${file} --dataset ${DEMO_DATASET} --platform meta --as operator`)}`)
  }
  for (const [role, link] of Object.entries(links))
    output.line(`\n  Sign in as ${role} (the link opens once; the sign-in is for all tabs)\n  ${link}`)
  if (database.kind === 'external') output.line(`\n  ${prose(howToSignIn(database, config), { indent: 2 })}`)
  output.dim('\n  Ctrl-C stops everything; the data stays.')
}

/** On the user's own database no link is printed: its administrator decides who is a member. */
function howToSignIn({ jwtSecret }: Database, { oidcIssuer }: Config): string {
  if (oidcIssuer !== undefined)
    return `Sign in at ${new URL(oidcIssuer).host}. The first member: \`${asTyped('member add --role admin --user ID')}\`, then invitations.`
  return jwtSecret === undefined
    ? 'Sign in with a token of your identity provider.'
    : `Sign in with a token; in another terminal with the same settings: \`${asTyped('token --as operator')}\`, and \`--as reviewer\` for whoever approves.`
}

/** In a clone the CLI is a script of npm; installed it is on the PATH. */
function isClone(): boolean {
  const { npm_lifecycle_event: script, npm_package_name: name } = process.env
  return name === 'stagedoor' && (script === 'start' || script === 'stagedoor')
}

/** A command that can be pasted as it stands. */
function asTyped(words: string): string {
  return `${isClone() ? 'npm run -s stagedoor --' : 'stagedoor'} ${words}`
}
