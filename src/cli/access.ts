/** `stagedoor workspace`, `member` and `token`: who belongs together, who may do what, and tokens for the API. */
import {
  APP_ROLES,
  type AppRole,
  createWorkspace,
  findMember,
  listMembers,
  listWorkspaces,
  setMember,
} from '../access/members.ts'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import { argumentInvalid } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { workspaceIfNamed, workspaceOf } from './session.ts'

export const workspaceCommand = () =>
  commandGroup('workspace', 'workspaces: who belongs together', [
    command('list', 'all workspaces').run(async ({ output, administrator }) => {
      const none = 'No workspace yet: stagedoor workspace create "Acme Media"'
      output.list(
        await administrator(listWorkspaces),
        [{ value: ({ id }) => id }, { value: ({ name }) => name }],
        none,
      )
    }),
    command('create', 'create a workspace')
      .argument('<name>')
      .run(async ({ output, administrator }, given) => {
        const created = await administrator((client) => createWorkspace(client, given))
        const { id, name } = created
        output.result(created, `${name} is ${id}`, [
          'Add its first member, with the id in the sub of their tokens',
          `stagedoor member add --workspace "${name}" --role reviewer --user ID`,
        ])
      }),
  ])

export const memberCommand = () =>
  commandGroup('member', 'members of workspaces and their roles', [
    command('list', 'who may do what')
      .workspace('only this one')
      .run(async ({ options, output, administrator }) => {
        const members = await administrator(async (client) =>
          listMembers(client, await workspaceIfNamed(client, options.workspace)),
        )
        output.list(
          members,
          [
            { value: ({ workspace, workspace_id }) => workspace ?? workspace_id },
            { value: ({ role }) => role },
            { value: ({ user_id }) => user_id },
            { value: ({ display_name }) => display_name },
          ],
          'No member yet: stagedoor member add --role admin --user <id>',
        )
      }),
    command('add', 'add a member, or change the role of one')
      .workspace()
      .requiredOption('--role <role>', 'what they may do', APP_ROLES)
      .option(
        '--user <id>',
        'their id, as in the sub of their tokens (a uuid, an e-mail address, …); default: a new one',
      )
      .option('--name <text>', 'how people call them')
      .run(async ({ options, output, administrator }) => {
        const { role, user: userId, name: displayName } = options
        const added = await administrator(async (client) => {
          const workspaceId = await workspaceOf(client, options.workspace)
          return setMember(client, { workspaceId, role, userId, displayName })
        })
        const { display_name, user_id, workspace } = added
        output.result(added, `${display_name ?? user_id} is ${added.role} in ${workspace} (${user_id})`)
      }),
  ])

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
With an identity provider of your own (STAGEDOOR_JWKS_URL) it signs the tokens, not this command.`,
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
