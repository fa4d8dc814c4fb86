/** Sign-in and sessions: with a link, a token, an invitation, or at an identity provider; sign-out here and everywhere. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptInvitation, OfferedInvitation, showInvitation } from '../access/invitations.ts'
import { findMember, keepEmail } from '../access/members.ts'
import { keepFlow, takeFlow } from '../access/oidc.ts'
import { createSecret, sha256 } from '../access/secrets.ts'
import {
  createSession,
  listSessions,
  OwnSession,
  revokeSessions,
  Session,
  type SessionProvider,
  SignInWays,
} from '../access/sessions.ts'
import { takeSignInCode } from '../access/sign-in-codes.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../kernel/postgres/transaction.ts'
import { nullable, Text, Type } from '../kernel/schema.ts'
import { API_PREFIX } from '../kernel/version.ts'
import {
  type Credentials,
  clearSessionCookie,
  cookieName,
  isSecure,
  requireOwnOrigin,
  sessionCookieOf,
  setSessionCookie,
} from './credentials.ts'
import { shareOfRateLimit } from './request-limits.ts'
import { routes } from './routes.ts'
import type { ApiContext } from './server.ts'
import { signInProblemPage } from './sign-in-page.ts'

export const OIDC_CALLBACK = `${API_PREFIX}/sign-in/oidc/callback`
/** Names the browser while it is at the identity provider: a callback in another browser signs nobody in. */
const BROWSER_COOKIE = 'stagedoor_sign_in'
const BROWSER_COOKIE_SECONDS = 600
/** People who may sign in; programs have tokens. */
const PERSON_ROLES = ['authenticated', 'stagedoor_reviewer', 'stagedoor_agent']
const DEFAULT_SESSION_HOURS = 168
const DEFAULT_IDLE_HOURS = 12

const Code = Type.String({ minLength: 20, maxLength: 200 })
const ReturnTo = Type.Optional(
  Type.String({ maxLength: 2000, description: 'a path of the console; others are ignored' }),
)

export const signInRoutes = (context: ApiContext, credentials: Credentials) =>
  routes('access', (api) => {
    const { pool, oidc, config } = context
    const { publicUrl } = config
    const settings = {
      lifetimeSeconds: (config.sessionHours ?? DEFAULT_SESSION_HOURS) * 3600,
      idleSeconds: (config.sessionIdleHours ?? DEFAULT_IDLE_HOURS) * 3600,
    }
    const ways = {
      oidc: oidc ? { name: oidc.name } : null,
      link_invitations: context.linkInvitations === true,
    }
    const provider = () => {
      if (oidc) return oidc
      throw new StagedoorError('sign_in_refused', {
        reason: 'no identity provider is configured here (OIDC_ISSUER)',
      })
    }
    const limit =
      config.rateLimit > 0 ? limitByAddress(api.fastify, shareOfRateLimit(context)) : async () => {}
    const asService = <T>(work: (client: Client) => Promise<T>) => inTransaction(pool, work, SERVICE_ROLE)

    /** In the transaction that found out who it is. Returns the cookie, which is set once that has committed. */
    const begin = (
      client: Client,
      request: FastifyRequest,
      who: {
        readonly subject: string
        readonly role: string
        readonly provider: SessionProvider
        readonly readOnly?: boolean | undefined
        readonly lifetimeSeconds?: number
      },
    ): Promise<string> =>
      createSession(client, {
        ...settings,
        ...who,
        userAgent: request.headers['user-agent'],
        replaces: sessionCookieOf(request, publicUrl),
      })
    const show = async (request: FastifyRequest, reply: FastifyReply, cookie: string) => {
      setSessionCookie(request, reply, cookie, { publicUrl, maxAge: settings.lifetimeSeconds })
      return { session: (await credentials.session(request))!.session }
    }

    api.get('/session', {
      operationId: 'getSession',
      summary: 'Whether this browser is signed in, the token for changes, and how one can sign in',
      answer: Type.Object({ session: nullable(Session), sign_in: SignInWays }),
      config: { public: true },
      handle: async (request, reply) => {
        reply.header('cache-control', 'no-store')
        const found = await credentials.session(request)
        if (!found && sessionCookieOf(request, publicUrl) !== undefined)
          clearSessionCookie(request, reply, publicUrl)
        return { session: found?.session ?? null, sign_in: ways }
      },
    })

    api.post('/sign-in', {
      operationId: 'signIn',
      summary: 'Sign in with the code of a link, a token or an invitation',
      description:
        'Answers a session and sets its cookie. `as: token` exchanges a code for a token instead. A code and an invitation are good once.',
      body: {
        code: Type.Optional(Code),
        token: Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
        invitation: Type.Optional(Code),
        name: Type.Optional(Type.String({ maxLength: 255, description: 'how people call you' })),
        as: Type.Optional(Type.Enum(['session', 'token'])),
      },
      answer: Type.Object({ session: Type.Optional(Session), token: Type.Optional(Text) }),
      config: { public: true },
      problems: [401, 403, 409, 429],
      bodyLimit: 16_384,
      handle: async (request, reply) => {
        requireOwnOrigin(request, config.publicUrl)
        await limit(request)
        reply.header('cache-control', 'no-store')
        const { code, token, invitation, name, as = 'session' } = request.body
        if ([code, token, invitation].filter((given) => given !== undefined).length !== 1)
          throw new StagedoorError('request_invalid', { reason: 'name one of code, token and invitation' })
        if (as === 'token') return { token: await exchangeCode(context, code) }
        if (token !== undefined) {
          const who = await personOf(context, token)
          return show(request, reply, await asService((client) => begin(client, request, who)))
        }
        const signedInAs = (await credentials.session(request))?.subject
        const cookie = await asService(async (client) => {
          if (code !== undefined) {
            const who = await takeSignInCode(client, code)
            if (who === undefined) throw usedLink()
            return begin(client, request, { ...who, provider: 'link' })
          }
          if (!ways.link_invitations) throw notByLinkAlone(ways.oidc !== null)
          const subject = randomUUID()
          const { database_role: role } = await acceptInvitation(client, sha256(invitation!), {
            subject,
            name,
            signedInAs,
          })
          return begin(client, request, { subject, role, provider: 'invitation' })
        })
        return show(request, reply, cookie)
      },
    })

    api.post('/invitations/show', {
      operationId: 'showInvitation',
      summary: 'What an invitation is for, before it is accepted',
      body: { code: Code },
      answer: OfferedInvitation,
      config: { public: true },
      problems: [409, 429],
      bodyLimit: 4096,
      handle: async (request, reply) => {
        await limit(request)
        reply.header('cache-control', 'no-store')
        const found = await asService((client) => showInvitation(client, request.body.code))
        if (found) return found
        throw new StagedoorError('invitation_invalid', { reason: 'it was used, revoked, or has expired' })
      },
    })

    api.post('/invitations/accept', {
      operationId: 'acceptInvitation',
      summary: 'Become a member as whoever you are signed in as',
      body: { code: Code },
      answer: Type.Object({ workspace_id: Text, role: Text }),
      problems: [403, 409],
      bodyLimit: 4096,
      handle: async (request) => {
        const { subject, role } = request.principal!
        if (!PERSON_ROLES.includes(role) || subject.startsWith('token:'))
          throw new StagedoorError('permission_denied', { reason: 'an invitation is for a person' })
        const { workspace_id, role: given } = await asService((client) =>
          acceptInvitation(client, sha256(request.body.code), { subject }),
        )
        return { workspace_id, role: given }
      },
    })

    api.delete('/session', {
      operationId: 'endSession',
      summary: 'Sign out in this browser',
      config: { onlyReads: true },
      problems: [403],
      handle: async (request, reply) => {
        const { principal, session } = request
        if (session === null)
          throw new StagedoorError('request_invalid', {
            reason: 'the request has a token and no session: there is nothing to sign out of',
          })
        await asService((client) => revokeSessions(client, principal!.subject, session.session_id))
        credentials.forgetSessions(principal!.subject)
        clearSessionCookie(request, reply, publicUrl)
        return reply.status(204).send()
      },
    })

    api.get('/sessions', {
      operationId: 'listSessions',
      summary: 'Where you are signed in',
      answer: Type.Object({ sessions: Type.Array(OwnSession) }),
      handle: async ({ principal, session }) => {
        const sessions = await asService((client) => listSessions(client, principal!.subject))
        return {
          sessions: sessions.map((one) => ({ ...one, current: one.session_id === session?.session_id })),
        }
      },
    })

    api.delete('/sessions', {
      operationId: 'endSessions',
      summary: 'Sign out everywhere',
      answer: Type.Object({ ended: Type.Integer() }),
      config: { onlyReads: true },
      problems: [403],
      handle: async (request, reply) => {
        const { subject } = request.principal!
        const ended = await asService((client) => revokeSessions(client, subject))
        credentials.forgetSessions(subject)
        clearSessionCookie(request, reply, publicUrl)
        return { ended }
      },
    })

    api.delete('/sessions/:id', {
      operationId: 'endOneSession',
      summary: 'Sign out in another browser of yours',
      config: { onlyReads: true },
      problems: [403, 404],
      handle: async ({ principal, params }, reply) => {
        const ended = await asService((client) => revokeSessions(client, principal!.subject, params.id))
        if (ended === 0) throw new StagedoorError('access_not_found', { what: `live session ${params.id}` })
        credentials.forgetSessions(principal!.subject)
        return reply.status(204).send()
      },
    })

    const leave = async (
      request: FastifyRequest,
      reply: FastifyReply,
      asked: { readonly returnTo?: string | undefined; readonly invitation?: string | undefined },
    ): Promise<string> => {
      await limit(request)
      const { url, flow } = await provider().begin()
      const name = cookieName(request, publicUrl, BROWSER_COOKIE)
      const known = request.cookies[name]
      const browser = known && known.length <= 200 ? known : createSecret()
      await asService((client) =>
        keepFlow(client, browser, {
          ...flow,
          returnTo: ownPath(asked.returnTo),
          invitationHash: asked.invitation === undefined ? undefined : sha256(asked.invitation),
        }),
      )
      reply.header('cache-control', 'no-store').setCookie(name, browser, {
        // The prefix __Host- asks for this path.
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure(request, publicUrl),
        maxAge: BROWSER_COOKIE_SECONDS,
      })
      return url
    }

    api.get('/sign-in/oidc', {
      operationId: 'beginOidcSignIn',
      summary: 'Sends the browser to the identity provider',
      query: { return_to: ReturnTo },
      config: { public: true },
      schema: { response: { 303: Type.Null() } },
      handle: async (request, reply) => {
        try {
          return reply.redirect(await leave(request, reply, { returnTo: request.query.return_to }), 303)
        } catch (error) {
          return problemPage(request, reply, error)
        }
      },
    })

    api.post('/sign-in/oidc', {
      operationId: 'beginOidcSignInWithInvitation',
      summary: 'The same for a script of the console, which brings an invitation',
      body: { return_to: ReturnTo, invitation: Type.Optional(Code) },
      answer: Type.Object({ location: Text }),
      config: { public: true },
      problems: [403, 429],
      bodyLimit: 4096,
      handle: async (request, reply) => {
        requireOwnOrigin(request, config.publicUrl)
        const { return_to: returnTo, invitation } = request.body
        return { location: await leave(request, reply, { returnTo, invitation }) }
      },
    })

    api.get('/sign-in/oidc/callback', {
      operationId: 'completeOidcSignIn',
      summary: 'Where the identity provider sends the browser back to',
      config: { public: true },
      schema: { response: { 303: Type.Null() } },
      handle: async (request, reply) => {
        reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
        try {
          await limit(request)
          const search = new URL(request.url, 'http://callback.invalid').search
          const state = new URLSearchParams(search).get('state') ?? ''
          const browser = request.cookies[cookieName(request, publicUrl, BROWSER_COOKIE)] ?? ''
          const flow = await asService((client) => takeFlow(client, browser, state))
          if (flow === undefined)
            throw new StagedoorError('sign_in_refused', {
              reason:
                'this browser began no such sign-in, or it was completed or took longer than ten minutes',
            })
          const { subject, name, email } = await provider().complete(search, flow)
          const signedInAs = (await credentials.session(request))?.subject
          const cookie = await asService(async (client) => {
            if (flow.invitationHash !== undefined)
              await acceptInvitation(client, flow.invitationHash, { subject, name, signedInAs, email })
            else if ((await findMember(client, { user: subject })) === undefined) throw notAMember(subject)
            await keepEmail(client, subject, email)
            return begin(client, request, { subject, role: 'authenticated', provider: 'oidc' })
          })
          setSessionCookie(request, reply, cookie, { publicUrl, maxAge: settings.lifetimeSeconds })
          return reply.redirect(flow.returnTo, 303)
        } catch (error) {
          return problemPage(request, reply, error)
        }
      },
    })
  })

/** Only paths of the console: another address after the sign-in could show a page that looks like ours. */
export function ownPath(given: string | undefined): string {
  const base = 'http://own.invalid'
  if (
    given === undefined ||
    !given.startsWith('/') ||
    /[\\\p{Cc}]/u.test(given) ||
    !URL.canParse(given, base)
  )
    return '/'
  const { origin, pathname, search, hash } = new URL(given, base)
  return origin !== base || pathname.startsWith('//') || pathname.startsWith('/api/')
    ? '/'
    : pathname + search + hash
}

async function exchangeCode({ pool, signIn }: ApiContext, code: string | undefined): Promise<string> {
  if (code === undefined || signIn === undefined)
    throw new StagedoorError('request_invalid', {
      reason: 'only a code is exchanged for a token, and only where Stagedoor signs the tokens itself',
    })
  const who = await inTransaction(pool, (client) => takeSignInCode(client, code), SERVICE_ROLE)
  if (who === undefined) throw usedLink()
  return signIn(who)
}

/** A session of a token ends with it at the latest. */
async function personOf({ tokens, config }: ApiContext, token: string) {
  const { subject, role, readOnly, claims } = await tokens.verify(token)
  if (!PERSON_ROLES.includes(role))
    throw new StagedoorError('permission_denied', {
      reason: `the console is for people; a token of ${role} is for a program`,
    })
  const left = Math.floor(Number(claims.exp) - Date.now() / 1000)
  const lifetimeSeconds = Math.min(left, (config.sessionHours ?? DEFAULT_SESSION_HOURS) * 3600)
  if (!(lifetimeSeconds >= 1)) throw new StagedoorError('token_invalid', { reason: 'it has expired' })
  return { subject, role, readOnly, lifetimeSeconds, provider: 'token' as const }
}

function usedLink(): StagedoorError {
  return new StagedoorError('token_invalid', { reason: 'the sign-in link was used already, or is too old' })
}

function notByLinkAlone(hasOidc: boolean): StagedoorError {
  return new StagedoorError(
    'permission_denied',
    { reason: 'the link of an invitation is not enough here; sign in first' },
    {
      hint: hasOidc
        ? 'POST /api/v1/sign-in/oidc with the invitation begins the sign-in at the identity provider.'
        : 'Sign in with your token, then open the link again.',
    },
  )
}

function notAMember(subject: string): StagedoorError {
  return new StagedoorError(
    'not_member',
    { actor: subject },
    {
      message: 'You signed in, but you are not a member of any workspace here',
      hint: 'Ask an administrator for an invitation link, or send them your id, which is below.',
    },
  )
}

function problemPage(request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const error = asStagedoorError(thrown)
  request.log.warn({ err: error.cause ?? error, code: error.code }, 'a sign-in was not completed')
  return reply
    .status(error.status)
    .type('text/html; charset=utf-8')
    .send(
      signInProblemPage({
        message: error.message,
        hint: error.apiHint,
        subject: error.code === 'not_member' ? String(error.details.actor) : undefined,
        requestId: request.id,
      }) as never,
    )
}

/** Whoever has not signed in has no limit of their own, so their address has one. */
function limitByAddress(app: FastifyInstance, max: () => number): (request: FastifyRequest) => Promise<void> {
  const count = app.createRateLimit({
    max,
    timeWindow: '1 minute',
    keyGenerator: (request) => request.ip,
    // The limit of callers leaves public routes out, and these are.
    allowList: () => false,
  })
  return async (request) => {
    const limit = await count(request)
    if (!limit.isAllowed && limit.isExceeded)
      throw new StagedoorError('rate_limited', { seconds: limit.ttlInSeconds })
  }
}
