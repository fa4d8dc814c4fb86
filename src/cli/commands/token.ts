import { Command, Option } from 'commander'
import { APP_ROLES, type AppRole, findMember } from '../../access/members.ts'
import type { Config } from '../../config.ts'
import { withClient } from '../../db/connection.ts'
import type { Database } from '../../db/open.ts'
import { StagedoorError } from '../../errors.ts'
import { signToken } from '../../http/tokens.ts'
import { EXECUTORS } from '../../jobs/executors.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'

interface TokenOptions extends GlobalOptions {
  readonly as: AppRole
  readonly user?: string
  readonly role?: 'stagedoor_executor' | 'service_role'
  readonly executor?: string
  readonly name?: string
  readonly expiresIn: string
  readonly readOnly?: boolean
}

export function tokenCommand(): Command {
  return new Command('token')
    .description('print a token for the API, signed with the secret of the embedded server')
    .addOption(
      new Option('--as <role>', 'the first member with this role').choices(APP_ROLES).default('operator'),
    )
    .option('--user <id>', 'this member')
    .addOption(
      new Option('--role <role>', 'of a program, not of a member').choices([
        'stagedoor_executor',
        'service_role',
      ]),
    )
    .addOption(new Option('--executor <name>', 'whose jobs a stagedoor_executor leases').choices(EXECUTORS))
    .option('--name <text>', 'how the audit calls the program; default: its role or executor')
    .option('--expires-in <time>', 'how long it is good for', '12h')
    .option('--read-only', 'it can read and nothing else')
    .addHelpText(
      'after',
      `
Examples:
  $ curl -H "Authorization: Bearer $(stagedoor token --as reviewer)" http://localhost:4680/api/me   # or your port
  $ stagedoor token --role stagedoor_executor --executor external_worker --expires-in 90d   # leases jobs, nothing else
  $ stagedoor token --role service_role --read-only --expires-in 1y                         # for Prometheus
With an identity provider of your own (STAGEDOOR_JWKS_URL) it signs the tokens, not this command.`,
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<TokenOptions>()
      const output = outputOf(options)
      requireTime(options.expiresIn)
      refuseMixed(command, options)
      const { token, bearer } = await withDatabase(options, async (database, config) => {
        const jwtSecret = requireSecret(database, config)
        const bearer = options.role === undefined ? await memberFor(database, options) : programOf(options)
        const request = { ...bearer, expiresIn: options.expiresIn, readOnly: options.readOnly === true }
        return { token: await signToken(jwtSecret, request, config), bearer }
      })
      output.result({ token, ...bearer.shown }, () => output.line(token))
    })
}

/** What would be ignored is refused: the token would be another than the one that was meant. */
function refuseMixed(command: Command, { role, executor, user }: TokenOptions): void {
  const reason =
    role === undefined
      ? executor !== undefined && 'A token that leases jobs is one of --role stagedoor_executor'
      : (user !== undefined || command.getOptionValueSource('as') === 'cli') &&
        `--role ${role} is of a program, --as and --user are of a member: say one of them`
  if (reason) throw new StagedoorError('argument_invalid', { reason })
}

interface Bearer {
  readonly subject: string
  readonly role: string
  readonly executor?: string
  readonly shown: object
}

async function memberFor(database: Database, options: TokenOptions): Promise<Bearer> {
  const wanted = options.user === undefined ? { role: options.as } : { user: options.user }
  // As the worker's login, which is what runs here on a database of one's own.
  const found = await withClient(database.workerUrl, (client) => findMember(client, wanted), {
    role: 'dot_executor',
  })
  if (found) return { subject: found.user_id, role: found.database_role, shown: found }
  throw new StagedoorError(
    'not_found',
    { what: options.user === undefined ? `member with the role ${options.as}` : `member ${options.user}` },
    { hint: 'Add one: `stagedoor workspace create`, then `stagedoor member add`.' },
  )
}

/** A program is nobody's member: its name is what the audit shows. */
function programOf({ role, executor, name }: TokenOptions): Bearer {
  if ((role === 'stagedoor_executor') !== (executor !== undefined)) {
    const reason =
      executor === undefined
        ? `Say whose jobs it leases with --executor: ${EXECUTORS.join(', ')}`
        : '--executor is for --role stagedoor_executor'
    throw new StagedoorError('argument_invalid', { reason })
  }
  const subject = name ?? executor ?? role!
  const claims = { subject, role: role!, ...(executor !== undefined && { executor }) }
  return { ...claims, shown: claims }
}

function requireSecret({ jwtSecret }: Database, { jwksUrl }: Config): string {
  if (jwtSecret !== undefined) return jwtSecret
  throw new StagedoorError(
    'config_invalid',
    { setting: 'STAGEDOOR_JWT_SECRET' },
    {
      message:
        jwksUrl === undefined
          ? 'No secret is set that tokens for your own database could be signed with'
          : `Your identity provider (${jwksUrl}) signs the tokens for this database`,
      hint:
        jwksUrl === undefined
          ? 'Set STAGEDOOR_JWT_SECRET to the secret (at least 32 characters) that the server has, or sign in at your identity provider.'
          : 'Sign in there and use its token; or set STAGEDOOR_JWT_SECRET here and on the server to sign tokens with it.',
    },
  )
}

function requireTime(expiresIn: string): void {
  if (/^\d+\s?(s|m|h|d|w|y)$/.test(expiresIn)) return
  throw new StagedoorError('argument_invalid', {
    reason: `--expires-in ${expiresIn}: a time like 30m, 12h or 7d`,
  })
}
