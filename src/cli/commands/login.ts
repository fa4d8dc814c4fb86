import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import pg from 'pg'
import { directUrl } from '../../config.ts'
import { withClient } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { configOf, type GlobalOptions, outputOf } from '../context.ts'

export function loginCommand(): Command {
  return new Command('login')
    .description(
      'give the login stagedoor_api a new password on your database and print the DATABASE_URL to use',
    )
    .addHelpText(
      'after',
      `
Run it once after the first migrate, with DATABASE_URL as the login that migrated. It replaces the password that
stagedoor_api had, so a running API must be restarted with the new address.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const url = directUrl(configOf(options))
      if (url === undefined) {
        throw new StagedoorError('argument_invalid', {
          reason: 'DATABASE_URL is not set; the embedded server looks after its logins by itself',
        })
      }
      const password = randomBytes(24).toString('base64url')
      await withClient(url, (client) =>
        client.query(`alter role stagedoor_api password ${pg.escapeLiteral(password)}`),
      )
      const api = new URL(url)
      api.username = 'stagedoor_api'
      api.password = password
      output.result({ database_url: api.toString(), database_direct_url: url }, () => {
        output.line(`DATABASE_URL=${api}`)
        output.line(`DATABASE_DIRECT_URL=${url}`)
        output.note(
          'The password is shown this once. Behind a pooler, put its host and port into DATABASE_URL.',
        )
      })
    })
}
