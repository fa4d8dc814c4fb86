/** `stagedoor token`: JWTs of the embedded server, and tokens of machines that can be revoked. */
import {
  createMachineToken,
  listMachineTokens,
  MACHINE_ROLES,
  type MachineRole,
  type MachineToken,
  revokeMachineToken,
} from '../access/machine-tokens.ts'
import { APP_ROLES, type AppRole, findMember } from '../access/members.ts'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { asAdmin } from './access.ts'
import { argumentInvalid, integerBetween } from './arguments.ts'
import { command } from './command.ts'
import { byPrefix } from './ids.ts'
import { workspaceOf } from './session.ts'

interface BearerOptions {
  readonly as?: AppRole
  readonly user?: string
  readonly role?: 'stagedoor_executor' | 'service_role'
  readonly executor?: string
  readonly name?: string
}

export const tokenCommand = () =>
  command('token', 'print a token for the API, signed with the secret of the embedded server')
    .option('--as <role>', 'the first member with this role; default: operator', APP_ROLES)
    .option('--user <id>', 'this member')
    .option('--role <role>', 'of a program, not of a member', ['stagedoor_executor', 'service_role'])
    .option('--executor <name>', 'whose jobs a stagedoor_executor leases, such as external_worker')
    .option('--name <text>', 'how the audit calls the program; default: its role or executor')
    .option('--expires-in <time>', 'how long it is valid', '12h')
    .option('--read-only', 'it can read and nothing else')
    .examples(
      `Examples:
  $ curl -H "Authorization: Bearer $(stagedoor token --as reviewer)" http://localhost:4680/api/v1/me   # or your port
  $ stagedoor token --role stagedoor_executor --executor external_worker --expires-in 90d   # leases jobs, nothing else
  $ stagedoor token --role service_role --read-only --expires-in 1y                         # for Prometheus
With an identity provider of your own (STAGEDOOR_JWKS_URL) it signs the tokens, not this command. A token that can be revoked is
made by \`stagedoor token create\`.`,
    )
    .run(async ({ options, output, config, backEnd, database }) => {
      const { expiresIn, readOnly = false } = options
      if (!/^\d+\s?(s|m|h|d|w|y)$/.test(expiresIn))
        throw argumentInvalid(`--expires-in ${expiresIn}: a time like 30m, 12h or 7d`)
      refuseMixed(options)
      const secret = requireSecret(await database(), config)
      const bearer =
        options.role === undefined
          ? await backEnd((client) => memberBearer(client, options))
          : await programBearer(options)
      // Loaded here: workspace and member need no signatures.
      const { signToken } = await import('../access/tokens.ts')
      const signed = await signToken(secret, { ...bearer, expiresIn, readOnly }, config)
      output.result({ token: signed, ...bearer.output }, () => output.line(signed))
    })
    // Options before a verb are those of \`token\` itself, which prints a JWT.
    .enablePositionalOptions()
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())

const createCommand = () =>
  command('create', 'create a token for a machine: named, limited to a role, revocable; shown once')
    .argument('<name>', 'what the program is called')
    .requiredOption(
      '--role <role>',
      'viewer, operator and agent of one workspace; executor and service of all',
      MACHINE_ROLES,
    )
    .option('--executor <name>', 'whose jobs the role executor leases, such as external_worker')
    .option('--read-only', 'it can read and nothing else')
    .option('--days <n>', 'how long it is valid', integerBetween(1, 366), 90)
    .workspace()
    .actor()
    .examples(
      `Whoever creates a token of a workspace cannot approve what it submits: name the person with --as or --user, or it is the login.

Examples:
  $ stagedoor token create "nightly export" --role operator --as admin
  $ stagedoor token create prometheus --role service --read-only --days 365`,
    )
    .run(async (session, name) => {
      const { options, output } = session
      const { role, executor, readOnly, days } = options
      if ((role === 'executor') !== (executor !== undefined))
        throw argumentInvalid('--role executor names the executor with --executor, and no other role does')
      const created = await asAdmin(session)(async (client) =>
        createMachineToken(client, {
          workspaceId: await scopeOf(client, role, options.workspace),
          name,
          role,
          days,
          readOnly,
          executor,
        }),
      )
      output.result(created, () => {
        output.note(`The token ${name} (${role}) is shown only now:`)
        output.line(created.secret)
      })
    })

const listCommand = () =>
  command('list', 'tokens of machines: role, last use, expiry')
    .workspace()
    .option('--back-end', 'those of the roles executor and service, which act in all workspaces')
    .actor()
    .run(async (session) => {
      const { options, output } = session
      const tokens = await asAdmin(session)(async (client) =>
        listMachineTokens(client, options.backEnd ? null : await workspaceOf(client, options.workspace)),
      )
      output.list(tokens, TOKEN_COLUMNS, 'No token yet: stagedoor token create NAME --role viewer')
    })

const revokeCommand = () =>
  command('revoke', 'the token works no more')
    .argument('<token>', 'its id, or the beginning of it')
    .workspace()
    .option('--back-end', 'one of the roles executor and service')
    .actor()
    .examples('A server that runs takes up to 3 s to notice it.')
    .run(async (session, given) => {
      const { options, output } = session
      const revoked = await asAdmin(session)(async (client) => {
        const scope = options.backEnd ? null : await workspaceOf(client, options.workspace)
        const all = await listMachineTokens(client, scope)
        const id = byPrefix(
          all.map(({ token_id }) => token_id),
          given,
          'token',
        )
        return { token_id: id, revoked: await revokeMachineToken(client, scope, id) }
      })
      output.result(revoked, revoked.revoked ? 'The token is revoked' : 'The token was revoked before')
    })

const TOKEN_COLUMNS = [
  { value: ({ token_id }: MachineToken) => token_id },
  { value: ({ name }: MachineToken) => name },
  { value: ({ role, read_only }: MachineToken) => (read_only ? `${role}, read only` : role) },
  { value: stateOf },
  {
    value: ({ last_used_at }: MachineToken) =>
      last_used_at === null ? 'never used' : `used ${last_used_at.toISOString().slice(0, 16)}`,
  },
]

function stateOf({ revoked_at, expires_at }: MachineToken): string {
  if (revoked_at !== null) return 'revoked'
  return expires_at.getTime() <= Date.now() ? 'expired' : `until ${expires_at.toISOString().slice(0, 10)}`
}

async function scopeOf(
  client: Client,
  role: MachineRole,
  workspace: string | undefined,
): Promise<string | null> {
  if (role !== 'executor' && role !== 'service') return workspaceOf(client, workspace)
  if (workspace !== undefined)
    throw argumentInvalid(`--role ${role} acts in all workspaces: leave --workspace out`)
  return null
}

/** An option that would have no effect is refused: the token would be another than the one that was meant. */
function refuseMixed({ role, executor, as, user }: BearerOptions): void {
  if (role === undefined && executor !== undefined)
    throw argumentInvalid('A token that leases jobs is one of --role stagedoor_executor')
  if (role !== undefined && (user ?? as) !== undefined)
    throw argumentInvalid(`--role ${role} is of a program, --as and --user are of a member: say one of them`)
}

interface Bearer {
  readonly subject: string
  readonly role: string
  readonly executor?: string
  readonly output: object
}

async function memberBearer(client: Client, { user, as = 'operator' }: BearerOptions): Promise<Bearer> {
  const found = await findMember(client, user === undefined ? { role: as } : { user })
  if (found) return { subject: found.user_id, role: found.database_role, output: found }
  throw new StagedoorError(
    'not_found',
    { what: user === undefined ? `member with the role ${as}` : `member ${user}` },
    {
      hint: 'Create a workspace with `stagedoor workspace create`, then a member with `stagedoor member add`.',
    },
  )
}

/** A program is a member of no workspace: the audit shows its name. */
async function programBearer({ role, executor, name }: BearerOptions): Promise<Bearer> {
  const { EXECUTORS } = await import('../jobs/queue.ts')
  const choices = EXECUTORS.join(', ')
  if (role === 'stagedoor_executor' && executor === undefined)
    throw argumentInvalid(`Say whose jobs it leases with --executor: ${choices}`)
  if (role !== 'stagedoor_executor' && executor !== undefined)
    throw argumentInvalid('--executor is for --role stagedoor_executor')
  if (executor !== undefined && !(EXECUTORS as readonly string[]).includes(executor))
    throw argumentInvalid(`There is no executor ${executor}; there is ${choices}`)
  const claims = {
    subject: name ?? executor ?? role!,
    role: role!,
    ...(executor !== undefined && { executor }),
  }
  return { ...claims, output: claims }
}

function requireSecret({ jwtSecret }: Database, { jwksUrl }: Config): string {
  if (jwtSecret !== undefined) return jwtSecret
  const words =
    jwksUrl === undefined
      ? {
          message: 'No secret is set that tokens for your own database could be signed with',
          hint: 'Set STAGEDOOR_JWT_SECRET to the secret (at least 32 characters) that the server has, or sign in at your identity provider.',
        }
      : {
          message: `Your identity provider (${jwksUrl}) signs the tokens for this database`,
          hint: 'Sign in there and use its token; or set STAGEDOOR_JWT_SECRET here and on the server to sign tokens with it.',
        }
  throw new StagedoorError('config_invalid', { setting: 'STAGEDOOR_JWT_SECRET' }, words)
}
