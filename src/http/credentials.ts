/** Who sends a request: a bearer token (JWT or machine token), or the cookie of the console with its protection against forged requests. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CredentialCache } from '../access/credential-cache.ts'
import { checkMachineToken, isMachineToken, type MachinePrincipal } from '../access/machine-tokens.ts'
import {
  CSRF_HEADER,
  checkSession,
  isCsrfOf,
  SESSION_COOKIE,
  type Session,
  type SessionPrincipal,
} from '../access/sessions.ts'
import type { Principal, TokenVerifier } from '../access/tokens.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'

export interface Credentials {
  /** Throws where the request has none, or none that is valid. A bearer token has precedence over the cookie. */
  authenticate(
    request: FastifyRequest,
  ): Promise<{ readonly principal: Principal; readonly session?: Session }>
  /** The session of the cookie, whatever the request is; undefined: there is none. */
  session(request: FastifyRequest): Promise<SessionPrincipal | undefined>
  /** Call it when they were revoked: from then on this process refuses them. */
  forgetSessions(subject: string): void
  forgetToken(tokenId: string): void
}

interface CredentialDeps {
  readonly pool: Pool
  readonly tokens: TokenVerifier
  readonly publicUrl: string | undefined
  readonly cacheMs: number | undefined
}

export function createCredentials({ pool, tokens, publicUrl, cacheMs }: CredentialDeps): Credentials {
  const sessions = new CredentialCache<SessionPrincipal>(cacheMs)
  const machines = new CredentialCache<MachinePrincipal>(cacheMs)

  const bearer = async (token: string): Promise<Principal> => {
    if (!isMachineToken(token)) return tokens.verify(token)
    const principal = await checkMachineToken(pool, token, machines)
    if (principal) return principal
    throw new StagedoorError(
      'token_invalid',
      { reason: 'it is unknown, has expired or was revoked' },
      { hint: 'An administrator creates another one: Settings › Tokens, or `stagedoor token create`.' },
    )
  }
  const sessionOf = async (request: FastifyRequest): Promise<SessionPrincipal | undefined> => {
    const cookie = sessionCookieOf(request, publicUrl)
    return cookie === undefined ? undefined : checkSession(pool, cookie, sessions)
  }

  return {
    async authenticate(request) {
      const [scheme, token] = request.headers.authorization?.split(' ') ?? []
      if (scheme?.toLowerCase() === 'bearer' && token) return { principal: await bearer(token) }
      if (sessionCookieOf(request, publicUrl) === undefined || request.headers.authorization !== undefined)
        throw new StagedoorError('unauthenticated')
      const principal = await sessionOf(request)
      if (!principal) throw new StagedoorError('session_invalid')
      if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method))
        requireCsrf(request, principal.session, publicUrl)
      return { principal, session: principal.session }
    },
    session: sessionOf,
    forgetSessions: (subject) => sessions.forget((principal) => principal.subject === subject),
    forgetToken: (tokenId) => machines.forget((principal) => principal.tokenId === tokenId),
  }
}

/** A browser sends the cookie with requests that other sites make. Those can neither read the token nor set the header. */
function requireCsrf(request: FastifyRequest, session: Session, publicUrl: string | undefined): void {
  const given = request.headers[CSRF_HEADER]
  if (typeof given !== 'string')
    throw new StagedoorError('csrf_failed', { reason: `the header ${CSRF_HEADER} is missing` })
  if (!isCsrfOf(session, given))
    throw new StagedoorError('csrf_failed', { reason: `the header ${CSRF_HEADER} is not of this session` })
  requireOwnOrigin(request, publicUrl)
}

/** Throws if a page of another site sent it. Programs send no Origin. */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin } = request.headers
  if (origin === undefined) return
  const own = [`http://${request.host}`, `https://${request.host}`]
  if (publicUrl !== undefined) own.push(new URL(publicUrl).origin)
  if (!own.includes(origin)) throw new StagedoorError('csrf_failed', { reason: `it comes from ${origin}` })
}

/** The address that people open, for links. */
export function publicUrlOf(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`
}

// Cookies. Over https their names begin with __Host-, so that no other host and no unencrypted page can set them. Browsers do not separate
// cookies by port: over http the port is part of the name, and two installations on one host do not overwrite each other's.

/** By PUBLIC_URL, or by what a proxy says that STAGEDOOR_TRUST_PROXY names. */
export function isSecure(request: FastifyRequest, publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') === true || request.protocol === 'https'
}

export function cookieName(request: FastifyRequest, publicUrl: string | undefined, name: string): string {
  if (isSecure(request, publicUrl)) return `__Host-${name}`
  const port = /:(\d{1,5})$/.exec(request.host ?? '')?.[1] ?? '80'
  return port === '80' ? name : `${name}_${port}`
}

/** The id of the session that the browser sent. The name without prefix and port, of earlier versions, counts until that session expires. */
export function sessionCookieOf(request: FastifyRequest, publicUrl: string | undefined): string | undefined {
  const cookie =
    request.cookies[cookieName(request, publicUrl, SESSION_COOKIE)] ?? request.cookies[SESSION_COOKIE]
  return cookie === undefined || cookie === '' || cookie.length > 200 ? undefined : cookie
}

export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: string,
  { publicUrl, maxAge }: { readonly publicUrl: string | undefined; readonly maxAge: number },
): void {
  const name = cookieName(request, publicUrl, SESSION_COOKIE)
  const secure = isSecure(request, publicUrl)
  reply.setCookie(name, cookie, { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge })
  request.cookies[name] = cookie
}

/** Also that of an earlier version, where the browser has no other: otherwise it may be of another installation. */
export function clearSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string | undefined,
): void {
  const name = cookieName(request, publicUrl, SESSION_COOKIE)
  const secure = isSecure(request, publicUrl)
  for (const one of request.cookies[name] === undefined ? new Set([name, SESSION_COOKIE]) : [name])
    reply.clearCookie(one, { path: '/', httpOnly: true, sameSite: 'lax', secure })
}
