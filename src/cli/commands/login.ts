import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import pg from 'pg'
import { type Config, directUrl } from '../../config.ts'
import { withClient } from '../../db/connection.ts'
import { findRunning } from '../../db/embedded/server.ts'
import { openDatabase } from '../../db/open.ts'
import { StagedoorError } from '../../errors.ts'
import { configOf, type GlobalOptions, outputOf } from '../context.ts'

export function loginCommand(): Command {
  return new Command('login')
    .description('print the addresses of the database, for psql and for DATABASE_URL')
    .addHelpText(
      'after',
      `
On the embedded server: the addresses of the running one. They hold passwords; keep them to yourself.
On your own database: gives the login stagedoor_api a new password and prints the DATABASE_URL to use. Run it once after
the first migrate, with DATABASE_URL as the login that migrated; a running API must be restarted with the new address.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const addresses = await findAddresses(configOf(options))
      output.result(addresses, () => {
        output.line(`DATABASE_URL=${addresses.database_url}`)
        output.line(`DATABASE_DIRECT_URL=${addresses.database_direct_url}`)
      })
    })
}

interface Addresses {
  readonly database_url: string
  readonly database_direct_url: string
}

async function findAddresses(config: Config): Promise<Addresses> {
  const url = directUrl(config)
  if (url !== undefined) return { database_url: await newPassword(url), database_direct_url: url }
  const running = await findRunning(config.home)
  if (!running) {
    throw new StagedoorError(
      'not_found',
      { what: `running Stagedoor on ${config.home}` },
      { hint: 'The embedded server has an address while it runs: start it with `npm start`.' },
    )
  }
  const database = await openDatabase(config, { share: true })
  return { database_url: database.apiUrl, database_direct_url: database.directUrl }
}

async function newPassword(url: string): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  await withClient(url, (client) =>
    client.query(`alter role stagedoor_api password ${pg.escapeLiteral(password)}`),
  )
  const api = new URL(url)
  api.username = 'stagedoor_api'
  api.password = password
  return api.toString()
}
