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
    .description(
      'print the addresses of the database: for psql, and for DATABASE_URL, DATABASE_DIRECT_URL and PLAYBOOK_DATABASE_URL',
    )
    .option(
      '--reset',
      'on your own database: give stagedoor_api, stagedoor_worker and stagedoor_playbook new passwords first',
    )
    .addHelpText(
      'after',
      `
On the embedded server: the addresses of the running one. They hold passwords; keep them to yourself.
On your own database: with --reset, as the login that migrated, once after the first migrate. The API then runs with the
addresses that are printed; a running one must be restarted with them. stagedoor_playbook is what the sql of playbooks runs
as: it has no right on anything until you grant it some.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { reset?: boolean }>()
      const output = outputOf(options)
      const addresses = await findAddresses(configOf(options), options.reset === true)
      output.result(addresses, () => {
        output.line(`export DATABASE_URL='${addresses.database_url}'`)
        output.line(`export DATABASE_DIRECT_URL='${addresses.database_direct_url}'`)
        output.line(`export PLAYBOOK_DATABASE_URL='${addresses.playbook_database_url}'`)
      })
    })
}

interface Addresses {
  readonly database_url: string
  readonly database_direct_url: string
  readonly playbook_database_url: string
}

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
  }
}

async function resetPasswords(url: string, reset: boolean): Promise<Addresses> {
  if (!reset) {
    throw new StagedoorError('argument_invalid', {
      reason:
        'Passwords cannot be read back. With --reset stagedoor_api, stagedoor_worker and stagedoor_playbook get new ones, which are printed once',
    })
  }
  const addresses: string[] = []
  await withClient(url, async (client) => {
    for (const login of ['stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook']) {
      const address = new URL(url)
      address.username = login
      address.password = randomBytes(24).toString('base64url')
      await client.query(`alter role ${login} password ${pg.escapeLiteral(address.password)}`)
      addresses.push(address.toString())
    }
  })
  const [api, worker, playbook] = addresses as [string, string, string]
  return { database_url: api, database_direct_url: worker, playbook_database_url: playbook }
}
