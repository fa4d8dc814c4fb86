/** Tokens for machines: opaque (`sdt_…`), shown once, kept by their sha-256, limited to a role, revocable. */
import pg from 'pg'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { inOneRoundTrip } from '../kernel/postgres/transaction.ts'
import { type Row, shape, Text, TextOrNull, Timestamp, TimestampOrNull, Type } from '../kernel/schema.ts'
import type { CredentialCache } from './credential-cache.ts'
import { createSecret, sha256 } from './secrets.ts'
import type { Principal } from './tokens.ts'

const PREFIX = 'sdt_'

/** `executor` and `service` act in all workspaces: only the back end creates them. */
export const MACHINE_ROLES = ['viewer', 'operator', 'agent', 'executor', 'service'] as const
export type MachineRole = (typeof MACHINE_ROLES)[number]

const DATABASE_ROLE: Record<MachineRole, string> = {
  viewer: 'authenticated',
  operator: 'authenticated',
  agent: 'stagedoor_agent',
  executor: 'stagedoor_executor',
  service: 'service_role',
}

export const MachineToken = shape('MachineToken', {
  token_id: Text,
  workspace_id: TextOrNull,
  subject: Type.String({ description: 'what the audit calls it' }),
  name: Text,
  role: Type.Enum([...MACHINE_ROLES]),
  executor: TextOrNull,
  read_only: Type.Boolean(),
  created_by: Text,
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: TimestampOrNull,
  revoked_at: TimestampOrNull,
  revoked_by: TextOrNull,
})
export type MachineToken = Row<typeof MachineToken>

interface NewMachineToken {
  /** Null for the roles executor and service. */
  readonly workspaceId: string | null
  readonly name: string
  readonly role: MachineRole
  readonly days: number
  readonly readOnly?: boolean | undefined
  readonly executor?: string | undefined
}

/** `db` acts as an administrator of the workspace, or as the back end. The secret is nowhere else: whoever loses it creates another one. */
export async function createMachineToken(
  db: Queryable,
  token: NewMachineToken,
): Promise<{ readonly secret: string; readonly token: MachineToken }> {
  const secret = PREFIX + createSecret()
  const { rows } = await db.query<{ id: string }>(
    `select iu_core.fn_machine_token_create($1, $2, $3, $4, make_interval(secs => $5), $6, $7) as id`,
    [
      token.workspaceId,
      sha256(secret),
      token.name,
      token.role,
      token.days * 86_400,
      token.readOnly ?? false,
      token.executor ?? null,
    ],
  )
  const all = await listMachineTokens(db, token.workspaceId)
  return { secret, token: all.find(({ token_id }) => token_id === rows[0]!.id)! }
}

/** Of a workspace; of the back end where it is null. */
export async function listMachineTokens(db: Queryable, workspaceId: string | null): Promise<MachineToken[]> {
  const { rows } = await db.query<MachineToken>('select * from iu_core.fn_machine_token_list($1)', [
    workspaceId,
  ])
  return rows
}

/** False if it was revoked before. */
export async function revokeMachineToken(
  db: Queryable,
  workspaceId: string | null,
  tokenId: string,
): Promise<boolean> {
  const { rows } = await db.query<{ revoked: boolean }>(
    'select iu_core.fn_machine_token_revoke($1, $2) as revoked',
    [workspaceId, tokenId],
  )
  return rows[0]!.revoked
}

export function isMachineToken(bearer: string): boolean {
  return bearer.startsWith(PREFIX)
}

export interface MachinePrincipal extends Principal {
  readonly tokenId: string
}

interface CheckedToken {
  readonly token_id: string
  readonly subject: string
  readonly role: MachineRole
  readonly executor: string | null
  readonly read_only: boolean
}

/** Who the token belongs to; undefined: to nobody, or not any more. One round trip, none while the answer is cached. */
export async function checkMachineToken(
  pool: Pool,
  secret: string,
  cache: CredentialCache<MachinePrincipal>,
): Promise<MachinePrincipal | undefined> {
  const hash = sha256(secret)
  return cache.get(hash, async () => {
    const [row] = await inOneRoundTrip<CheckedToken>(
      pool,
      `select * from iu_core.fn_machine_token_check(${pg.escapeLiteral(hash)})`,
      { role: 'service_role' },
    )
    if (row === undefined) return undefined
    const role = DATABASE_ROLE[row.role]
    return {
      subject: row.subject,
      role,
      readOnly: row.read_only,
      claims: { sub: row.subject, role, ...(row.executor !== null && { executor: row.executor }) },
      tokenId: row.token_id,
    }
  })
}
