import { Command } from 'commander'
import pc from 'picocolors'
import type { Config } from '../../config.ts'
import { withClient } from '../../db/connection.ts'
import { type AppRole, findMember } from '../../db/default-workspace.ts'
import { isUpToDate, planMigration } from '../../db/migrate/migrate.ts'
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
      const database = await openDatabase(config, { share: false, notice: output.note, progress: step })
      let opened: string[]
      try {
        opened = await prepare(database, output)
      } catch (error) {
        await database.close()
        throw error
      }
      // Loaded here, because the other commands need no HTTP server.
      const { serve, untilStopped } = await import('../serve.ts')
      const stopped = untilStopped()
      const serving = await serve(config, database)
      const links = await signInLinks(config, database, serving.url)
      output.result({ url: serving.url, sign_in: links, opened_gates: opened }, () =>
        greet(output, serving.url, links, opened, database),
      )
      await stopped
      output.note(pc.dim('\n  stopping…'))
      await serving.stop()
    })
}

/** Returns the gates that were opened. The user's own database is only looked at. */
async function prepare(database: Database, output: Output): Promise<string[]> {
  if (database.kind === 'external') {
    const plan = await planMigration({ url: database.directUrl })
    if (isUpToDate(plan)) return []
    printPlan(output, plan)
    const pending =
      plan.migrations.join(', ') || `${plan.routines.length + plan.removedRoutines.length} routines`
    throw new StagedoorError('migrations_pending', { pending })
  }
  return withClient(
    database.directUrl,
    async (client) => {
      // Whoever closes a gate again must find it closed after the next start.
      if ((await gateHistory(client)).length > 0) return []
      for (const gate of DEMO_GATES) await setGate(client, gate, true, 'first start of the embedded server')
      return DEMO_GATES
    },
    { role: 'workflow_admin' },
  )
}

async function signInLinks(config: Config, database: Database, url: string): Promise<Record<string, string>> {
  const { jwtSecret } = database
  if (database.kind === 'external' || jwtSecret === undefined) return {}
  return withClient(
    database.directUrl,
    async (client) => {
      const links: Record<string, string> = {}
      for (const role of SIGN_IN_ROLES) {
        const member = await findMember(client, role)
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
