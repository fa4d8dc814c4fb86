/**
 * Sessions of the console. The browser holds a random id in an HttpOnly cookie; the row that belongs to it says who is signed in. A
 * session ends when it is too old, when it was idle for too long, and when it is revoked.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import pg from 'pg'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { inOneRoundTrip } from '../kernel/postgres/transaction.ts'
import { nullable, type Row, shape, Text, Timestamp, Type } from '../kernel/schema.ts'
import type { CredentialCache } from './credential-cache.ts'
import { createSecret, sha256 } from './secrets.ts'
import type { Principal } from './tokens.ts'

export const SESSION_COOKIE = 'stagedoor_session'
/** Requests that the cookie authenticates and that change something carry this header. */
export const CSRF_HEADER = 'x-stagedoor-csrf'

/** How somebody signed in. */
export type SessionProvider = 'link' | 'token' | 'oidc' | 'invitation'

export const Session = shape('Session', {
  session_id: Text,
  provider: Type.Enum(['link', 'token', 'oidc', 'invitation'], { description: 'how you signed in' }),
  csrf: Type.String({ description: `the value of the header ${CSRF_HEADER}` }),
  created_at: Timestamp,
  expires_at: Timestamp,
  idle_until: Timestamp,
})
export type Session = Row<typeof Session>

export const OwnSession = shape('OwnSession', {
  session_id: Text,
  current: Type.Boolean({ description: 'the one that asks' }),
  provider: Text,
  user_agent: Type.String({ description: 'what the browser says that it is' }),
  read_only: Type.Boolean(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
})
export type OwnSession = Omit<Row<typeof OwnSession>, 'current'>

interface NewSession {
  readonly subject: string
  readonly role: string
  readonly provider: SessionProvider
  readonly userAgent: string | undefined
  readonly readOnly?: boolean | undefined
  readonly lifetimeSeconds: number
  readonly idleSeconds: number
  /** The cookie that the browser had before: that session ends. */
  readonly replaces: string | undefined
}

/** As service_role. Returns the cookie: a new random id, whatever the browser sent. */
export async function createSession(db: Queryable, session: NewSession): Promise<string> {
  const cookie = createSecret()
  await db.query(
    `select iu_core.fn_session_create($1, $2, $3, $4, $5, make_interval(secs => $6), make_interval(secs => $7), $8, $9)`,
    [
      sha256(cookie),
      session.subject,
      session.role,
      session.provider,
      (session.userAgent ?? '').replace(/\p{Cc}/gu, ' '),
      session.lifetimeSeconds,
      session.idleSeconds,
      session.readOnly ?? false,
      session.replaces === undefined ? null : sha256(session.replaces),
    ],
  )
  return cookie
}

interface SessionRow {
  readonly session_id: string
  readonly subject: string
  readonly database_role: string
  readonly read_only: boolean
  readonly provider: SessionProvider
  readonly created_at: Date
  readonly expires_at: Date
  readonly idle_until: Date
}

export interface SessionPrincipal extends Principal {
  readonly session: Session
}

/** Who the cookie belongs to; undefined: to nobody, or not any more. One round trip, none while the answer is cached. */
export async function checkSession(
  pool: Pool,
  cookie: string,
  cache: CredentialCache<SessionPrincipal>,
): Promise<SessionPrincipal | undefined> {
  const hash = sha256(cookie)
  return cache.get(hash, async () => {
    const [row] = await inOneRoundTrip<SessionRow>(
      pool,
      `select * from iu_core.fn_session_check(${pg.escapeLiteral(hash)})`,
      { role: 'service_role' },
    )
    return row && principalOf(row, cookie)
  })
}

function principalOf(row: SessionRow, cookie: string): SessionPrincipal {
  const { session_id, subject, database_role: role, read_only: readOnly, provider } = row
  return {
    subject,
    role,
    readOnly,
    claims: { sub: subject, role, session_id },
    session: {
      session_id,
      provider,
      csrf: csrfOf(cookie),
      created_at: row.created_at,
      expires_at: row.expires_at,
      idle_until: row.idle_until,
    },
  }
}

/** Made of the cookie, which no other site can read: so it belongs to this session, and nothing more is kept. */
function csrfOf(cookie: string): string {
  return createHmac('sha256', cookie).update('stagedoor csrf').digest('base64url')
}

export function isCsrfOf(session: Session, given: string): boolean {
  const [a, b] = [Buffer.from(session.csrf), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** As service_role or dot_executor. */
export async function listSessions(db: Queryable, subject: string): Promise<OwnSession[]> {
  const { rows } = await db.query<OwnSession>('select * from iu_core.fn_session_list($1)', [subject])
  return rows
}

/** Ends one session of this person, or all of them. Returns how many were live. */
export async function revokeSessions(db: Queryable, subject: string, session?: string): Promise<number> {
  const { rows } = await db.query<{ ended: number }>('select iu_core.fn_session_revoke($1, $2) as ended', [
    subject,
    session ?? null,
  ])
  return rows[0]!.ended
}

export const SignInWays = shape('SignInWays', {
  oidc: nullable(
    Type.Object({ name: Text }, { description: 'the identity provider: GET /api/v1/sign-in/oidc' }),
  ),
  link_invitations: Type.Boolean({ description: 'the link of an invitation is enough to become a member' }),
})
export type SignInWays = Row<typeof SignInWays>
