import { Command, Option } from 'commander'
import { withClient } from '../../db/connection.ts'
import { APP_ROLES, type AppRole, findMember } from '../../db/default-workspace.ts'
import { StagedoorError } from '../../errors.ts'
import { signToken } from '../../http/tokens.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a token for the API, signed with the secret of the embedded server')
    .addOption(new Option('--as <role>', 'the member to sign in as').choices(APP_ROLES).default('operator'))
    .option('--expires-in <time>', 'how long it is good for', '12h')
    .option('--read-only', 'it can read and nothing else')
    .addHelpText(
      'after',
      `
Examples:
  $ curl -H "Authorization: Bearer $(stagedoor token --as reviewer)" http://localhost:4680/api/me
With an identity provider of your own (STAGEDOOR_JWKS_URL) it signs the tokens, not this command.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & { as: AppRole; expiresIn: string; readOnly?: boolean }
      >()
      const output = outputOf(options)
      if (!/^\d+\s?(s|m|h|d|w|y)$/.test(options.expiresIn)) {
        throw new StagedoorError('argument_invalid', {
          reason: `--expires-in ${options.expiresIn}: a time like 30m, 12h or 7d`,
        })
      }
      const { token, member } = await withDatabase(options, async (database, config) => {
        if (database.jwtSecret === undefined) {
          throw new StagedoorError('config_invalid', {
            setting: 'STAGEDOOR_JWT_SECRET',
            value: '(unset)',
            reason: 'a token for your own database can only be signed with it',
          })
        }
        const found = await withClient(database.directUrl, (client) => findMember(client, options.as), {
          role: 'workflow_admin',
        })
        if (!found) throw new StagedoorError('not_found', { what: `member with the role ${options.as}` })
        const request = {
          subject: found.user_id,
          role: found.database_role,
          expiresIn: options.expiresIn,
          readOnly: options.readOnly === true,
        }
        return { member: found, token: await signToken(database.jwtSecret, request, config) }
      })
      output.result({ token, ...member }, () => output.line(token))
    })
}
