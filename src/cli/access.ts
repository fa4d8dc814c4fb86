/** `stagedoor workspace`, `member`, `invitation` and `session`: who belongs together, who may do what, and who is signed in where. */
import {
  createInvitation,
  type Invitation,
  invitationLink,
  listInvitations,
  revokeInvitation,
} from '../access/invitations.ts'
import {
  APP_ROLES,
  createWorkspace,
  deleteMember,
  findMember,
  listMembers,
  listWorkspaces,
  setMember,
} from '../access/members.ts'
import { listSessions, revokeSessions } from '../access/sessions.ts'
import { createSignInCode } from '../access/sign-in-codes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { integerBetween } from './arguments.ts'
import { command, commandGroup } from './command.ts'
import { byPrefix } from './ids.ts'
import { type Session, type SessionOptions, workspaceIfNamed, workspaceOf } from './session.ts'

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
    command('delete', 'remove a member; whoever is in no workspace then is signed out')
      .argument('<user>', 'their id, as `member list` shows it')
      .workspace()
      .actor()
      .run(async (session, user) => {
        const tokens = await asAdmin(session)(async (client) =>
          deleteMember(client, await workspaceOf(client, session.options.workspace), user),
        )
        session.output.result(
          { user_id: user, tokens },
          `${user} is no longer a member`,
          tokens > 0 && [`${tokens} machine tokens that they created still work`, 'stagedoor token list'],
        )
      }),
  ])

/** As the member that --as or --user names, else as the owner of everything of ours. */
export function asAdmin(session: Session<SessionOptions>): Session['administrator'] {
  return session.isMember ? (work) => session.transaction(work) : session.administrator
}

export const invitationCommand = () =>
  commandGroup('invitation', 'links that make a person a member', [
    command('create', 'invite somebody: a link that works once')
      .argument('<invitee>', 'a name or an e-mail address')
      .requiredOption('--role <role>', 'what they may do', APP_ROLES)
      .option('--days <n>', 'how long it is valid', integerBetween(1, 30), 7)
      .workspace()
      .actor()
      .examples(
        `The link is shown only now. Send it to the person: on the embedded server it signs them in, with an identity provider
(OIDC_ISSUER) they sign in there. PUBLIC_URL is the address in it.

Example:
  $ stagedoor invitation create grace@example.com --role reviewer`,
      )
      .run(async (session, invitee) => {
        const { options, output, config } = session
        const { code, invitation } = await asAdmin(session)(async (client) =>
          createInvitation(client, {
            workspaceId: await workspaceOf(client, options.workspace),
            invitee,
            role: options.role,
            days: options.days,
          }),
        )
        const link = invitationLink(config.publicUrl ?? `http://localhost:${config.port}`, code)
        output.result({ invitation, link }, `${invitee} becomes ${invitation.role} with this link:\n${link}`)
      }),
    command('list', 'who was invited')
      .workspace()
      .actor()
      .run(async (session) => {
        const { options, output } = session
        const invitations = await asAdmin(session)(async (client) =>
          listInvitations(client, await workspaceOf(client, options.workspace)),
        )
        output.list(
          invitations,
          INVITATION_COLUMNS,
          'Nobody was invited: stagedoor invitation create NAME --role operator',
        )
      }),
    command('revoke', 'the link works no more')
      .argument('<invitation>', 'its id, or the beginning of it')
      .workspace()
      .actor()
      .run(async (session, given) => {
        const { options, output } = session
        const revoked = await asAdmin(session)(async (client) => {
          const workspace = await workspaceOf(client, options.workspace)
          const all = await listInvitations(client, workspace)
          const id = byPrefix(
            all.map((one) => one.invitation_id),
            given,
            'invitation',
          )
          return { invitation_id: id, revoked: await revokeInvitation(client, workspace, id) }
        })
        output.result(
          revoked,
          revoked.revoked ? 'The invitation is revoked' : 'The invitation had ended before',
        )
      }),
  ])

const INVITATION_COLUMNS = [
  { value: ({ invitation_id }: Invitation) => invitation_id },
  { value: ({ status }: Invitation) => status },
  { value: ({ role }: Invitation) => role },
  { value: ({ invitee }: Invitation) => invitee },
  { value: ({ expires_at }: Invitation) => `until ${expires_at.toISOString().slice(0, 16)}` },
]

export const sessionCommand = () =>
  commandGroup('session', 'browsers that are signed in to the console', [
    command('create', 'print a link that signs a member in once, as `start` does; on the embedded server')
      .option('--as <role>', 'the first member with this role', APP_ROLES, 'operator')
      .option('--user <id>', 'this member')
      .run(async ({ options, output, config, administrator, isExternal }) => {
        if (await isExternal())
          throw new StagedoorError(
            'permission_denied',
            { reason: 'on your own database nobody signs in as somebody else' },
            { hint: 'Invite the person: stagedoor invitation create NAME --role operator.' },
          )
        const { user, as } = options
        const link = await administrator(async (client) => {
          const member = await findMember(client, user === undefined ? { role: as } : { user })
          if (!member) throw new StagedoorError('not_found', { what: `member ${user ?? as}` })
          const code = await createSignInCode(client, { subject: member.user_id, role: member.database_role })
          return `${config.publicUrl ?? `http://localhost:${config.port}`}/#code=${code}`
        })
        output.result({ link }, () => output.line(link))
      }),
    command('list', 'where a person is signed in')
      .argument('<user>', 'their id, as `member list` shows it')
      .run(async ({ output, backEnd }, user) => {
        output.list(
          await backEnd((client) => listSessions(client, user)),
          [
            { value: ({ session_id }) => session_id },
            { value: ({ provider }) => provider },
            { value: ({ last_seen_at }) => `last used ${last_seen_at.toISOString().slice(0, 16)}` },
            { value: ({ user_agent }) => user_agent },
          ],
          `${user} is signed in nowhere`,
        )
      }),
    command('end', 'sign a person out, everywhere or in one browser')
      .argument('<user>', 'their id, as `member list` shows it')
      .argument('[session]', 'the id of one session; default: all')
      .examples('A server that runs takes up to 3 s to notice it.')
      .run(async ({ output, backEnd }, user, session) => {
        const ended = await backEnd((client) => revokeSessions(client, user, session))
        output.result(
          { user_id: user, ended },
          `${ended} ${ended === 1 ? 'session' : 'sessions'} of ${user} ended`,
        )
      }),
  ])
