import { Command } from 'commander'
import pc from 'picocolors'
import { type AppRole, findMember } from '../../access/members.ts'
import type { Config } from '../../config.ts'
import { type Client, withClient } from '../../db/connection.ts'
import { createHealthProbe } from '../../db/health.ts'
import { planMigration } from '../../db/migrate/migrate.ts'
import { type Database, openDatabase } from '../../db/open.ts'
import { StagedoorError } from '../../errors.ts'
import { gateHistory, setGate } from '../../gates/gates.ts'
import { signToken } from '../../http/tokens.ts'
import { configOf, type GlobalOptions, outputOf } from '../context.ts'
import type { Output } from '../output.ts'
import { printPlan } from './migrate.ts'

/** Opened on the very first start of the embedded server, so that a newcomer can try everything. */
const DEMO_GATES = [
  'iu_core.staging_writes_enabled',
  'iu_core.staging_cleanup_enabled',
  'queue.consumer_dispatch.enabled',
]

const SIGN_IN_ROLES: readonly AppRole[] = ['operator', 'reviewer']

export function startCommand(): Command {
  return new Command('start')
    .description('run API, workers and console in this process')
    .option('--port <port>', 'port to listen on (PORT)')
    .addHelpText(
      'after',
      `
Without DATABASE_URL: starts the embedded PostgreSQL, migrates it, and on the very first start opens the demo gates.
With DATABASE_URL: connects only. It never migrates, opens a gate or loads data; if the database is not ready it
prints the plan and the next command. Ctrl-C stops everything cleanly.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { port?: string }>()
      const output = outputOf(options)
      const config = configOf(options, options.port === undefined ? {} : { port: options.port })
      const step = (text: string) => output.note(pc.dim(`  ${text}`))
      // Loaded here, because the other commands need no HTTP server.
      const { requireFreePort, serve, untilStopped } = await import('../serve.ts')
      await requireFreePort(config)
      const database = await openDatabase(config, { share: false, notice: output.note, progress: step })
      let opened: string[]
      try {
        opened = await prepare(database, output)
      } catch (error) {
        await database.close()
        throw error
      }
      const stopped = untilStopped()
      const serving = await serve(config, database)
      try {
        const links = await signInLinks(config, database, serving.url)
        output.result({ url: serving.url, sign_in: links, opened_gates: opened }, () =>
          greet(output, serving.url, links, opened, database),
        )
        await stopped
        output.note(pc.dim('\n  stopping…'))
      } finally {
        await serving.stop()
      }
    })
}

/** Returns the gates that were opened. The user's own database is only looked at. */
async function prepare(database: Database, output: Output): Promise<string[]> {
  if (database.kind === 'external') {
    await requireMigrated(database, output)
    return []
  }
  return withClient(database.directUrl, openDemoGates, { role: 'workflow_admin' })
}

/** Asked as the worker: a running API needs no login that may migrate. Where that login is given, the plan is printed. */
async function requireMigrated(database: Database, output: Output): Promise<void> {
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
  printPlan(output, plan)
  const routines = plan.routines.length + plan.removed_routines.length
  throw new StagedoorError('migrations_pending', {
    pending: plan.migrations.join(', ') || `${routines} routines`,
  })
}

/** All or none, and once: whoever closes a gate again must find it closed after the next start. */
async function openDemoGates(client: Client): Promise<string[]> {
  if ((await gateHistory(client)).length > 0) return []
  await client.query('begin')
  for (const gate of DEMO_GATES) await setGate(client, gate, true, 'first start of the embedded server')
  await client.query('commit')
  return DEMO_GATES
}

async function signInLinks(config: Config, database: Database, url: string): Promise<Record<string, string>> {
  const { jwtSecret } = database
  if (database.kind === 'external' || jwtSecret === undefined) return {}
  return withClient(
    database.directUrl,
    async (client) => {
      const links: Record<string, string> = {}
      for (const role of SIGN_IN_ROLES) {
        const member = await findMember(client, { role })
        if (!member) continue
        const request = { subject: member.user_id, role: member.database_role, expiresIn: '12h' }
        links[role] = `${url}/#token=${await signToken(jwtSecret, request, config)}`
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
  opened: readonly string[],
  database: Database,
): void {
  output.line(`\n${pc.green('●')} ${pc.bold('Stagedoor')} runs at ${pc.bold(url)}`)
  output.line(
    pc.dim(
      `  API reference ${url}/api/docs · ${database.kind === 'embedded' ? 'embedded PostgreSQL' : 'your PostgreSQL'}`,
    ),
  )
  if (opened.length > 0) {
    output.line('\n  First start: these gates were opened for you to try things out')
    for (const gate of opened) output.line(`    ${gate}`)
  }
  for (const [role, link] of Object.entries(links)) {
    output.line(`\n  Sign in as ${role} (12 hours)\n  ${link}`)
  }
  output.line(pc.dim('\n  Ctrl-C stops everything; the data stays.'))
}
