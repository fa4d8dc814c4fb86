import { Command, Option } from 'commander'
import { APP_ROLES, type AppRole, findMember } from '../../access/members.ts'
import { withClient } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { signToken } from '../../http/tokens.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a token for the API, signed with the secret of the embedded server')
    .addOption(
      new Option('--as <role>', 'the first member with this role').choices(APP_ROLES).default('operator'),
    )
    .option('--user <id>', 'this member')
    .option('--expires-in <time>', 'how long it is good for', '12h')
    .option('--read-only', 'it can read and nothing else')
    .addHelpText(
      'after',
      `
Examples:
  $ curl -H "Authorization: Bearer $(stagedoor token --as reviewer)" http://localhost:4680/api/me   # or your port
With an identity provider of your own (STAGEDOOR_JWKS_URL) it signs the tokens, not this command.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<
        GlobalOptions & { as: AppRole; user?: string; expiresIn: string; readOnly?: boolean }
      >()
      const output = outputOf(options)
      if (!/^\d+\s?(s|m|h|d|w|y)$/.test(options.expiresIn)) {
        throw new StagedoorError('argument_invalid', {
          reason: `--expires-in ${options.expiresIn}: a time like 30m, 12h or 7d`,
        })
      }
      const { token, member } = await withDatabase(options, async (database, config) => {
        if (database.jwtSecret === undefined) {
          throw new StagedoorError(
            'config_invalid',
            { setting: 'STAGEDOOR_JWT_SECRET' },
            {
              message:
                'STAGEDOOR_JWT_SECRET is not set, and a token for your own database can only be signed with it',
            },
          )
        }
        const wanted = options.user === undefined ? { role: options.as } : { user: options.user }
        const found = await withClient(database.directUrl, (client) => findMember(client, wanted), {
          role: 'workflow_admin',
        })
        if (!found) {
          throw new StagedoorError(
            'not_found',
            {
              what:
                options.user === undefined ? `member with the role ${options.as}` : `member ${options.user}`,
            },
            { hint: 'Add one: `stagedoor workspace create`, then `stagedoor member add`.' },
          )
        }
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
