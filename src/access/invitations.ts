/** Invitations: a link that makes whoever signs in with it a member of a workspace, once. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, Text, TextOrNull, Timestamp, TimestampOrNull, Type } from '../kernel/schema.ts'
import { APP_ROLES, type AppRole } from './members.ts'
import { createSecret, sha256 } from './secrets.ts'

export const Invitation = shape('Invitation', {
  invitation_id: Text,
  workspace_id: Text,
  invitee: Type.String({ description: 'whom it is for: a name or an e-mail address' }),
  role: Type.Enum([...APP_ROLES]),
  status: Type.Enum(['open', 'accepted', 'revoked', 'expired']),
  created_by: Text,
  created_at: Timestamp,
  expires_at: Timestamp,
  accepted_at: TimestampOrNull,
  accepted_by: TextOrNull,
  revoked_at: TimestampOrNull,
  revoked_by: TextOrNull,
})
export type Invitation = Row<typeof Invitation>

interface NewInvitation {
  readonly workspaceId: string
  readonly invitee: string
  readonly role: AppRole
  readonly days: number
}

/** `db` acts as an administrator of the workspace, or as the back end. The code is nowhere else. */
export async function createInvitation(
  db: Queryable,
  { workspaceId, invitee, role, days }: NewInvitation,
): Promise<{ readonly code: string; readonly invitation: Invitation }> {
  const code = createSecret()
  const { rows } = await db.query<{ id: string }>(
    'select iu_core.fn_invitation_create($1, $2, $3, $4, make_interval(secs => $5)) as id',
    [workspaceId, sha256(code), invitee, role, days * 86_400],
  )
  const all = await listInvitations(db, workspaceId)
  return { code, invitation: all.find(({ invitation_id }) => invitation_id === rows[0]!.id)! }
}

/** The code is in the fragment, which a browser does not send to any server: so no log has it. */
export function invitationLink(publicUrl: string, code: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/#invitation=${code}`
}

export async function listInvitations(db: Queryable, workspaceId: string): Promise<Invitation[]> {
  const { rows } = await db.query<Invitation>('select * from iu_core.fn_invitation_list($1)', [workspaceId])
  return rows
}

/** False if it has ended. */
export async function revokeInvitation(
  db: Queryable,
  workspaceId: string,
  invitationId: string,
): Promise<boolean> {
  const { rows } = await db.query<{ revoked: boolean }>(
    'select iu_core.fn_invitation_revoke($1, $2) as revoked',
    [workspaceId, invitationId],
  )
  return rows[0]!.revoked
}

export const OfferedInvitation = shape('OfferedInvitation', {
  workspace: Text,
  invitee: Text,
  role: Type.Enum([...APP_ROLES]),
  expires_at: Timestamp,
})
export type OfferedInvitation = Row<typeof OfferedInvitation>

/** As service_role; undefined: unknown, used, revoked or too old. */
export async function showInvitation(db: Queryable, code: string): Promise<OfferedInvitation | undefined> {
  const { rows } = await db.query<OfferedInvitation>(
    'select workspace, invitee, role, expires_at from iu_core.fn_invitation_show($1)',
    [sha256(code)],
  )
  return rows[0]
}

interface Accepted {
  readonly workspace_id: string
  readonly role: AppRole
  readonly database_role: string
}

/** Who accepts an invitation. */
interface Invitee {
  readonly subject: string
  readonly name?: string | undefined
  /** Whom the browser is signed in as: whoever made the invitation does not become a second person by it. */
  readonly signedInAs?: string | undefined
  /** Verified by the identity provider. */
  readonly email?: string | undefined
}

/** As service_role. Throws invitation_invalid where it cannot be used. */
export async function acceptInvitation(
  db: Queryable,
  codeHash: string,
  { subject, name, signedInAs, email }: Invitee,
): Promise<Accepted> {
  const { rows } = await db.query<Accepted>(
    'select * from iu_core.fn_invitation_accept($1, $2, $3, $4, $5)',
    [codeHash, subject, name ?? null, signedInAs ?? null, email ?? null],
  )
  return rows[0]!
}
