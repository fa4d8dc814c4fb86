/** JSON Web Tokens: who the caller is, and under which database role a request runs. Signing and verification. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose'
import type { Config } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Caller } from '../kernel/postgres/transaction.ts'
import { isSubject } from './members.ts'

export interface Principal extends Caller {
  readonly subject: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** Values of the claim `role`. `authenticated` is a person, whose rights come from their memberships. */
const TOKEN_ROLES = [
  'authenticated',
  'stagedoor_reviewer',
  'stagedoor_agent',
  'stagedoor_executor',
  'service_role',
]

export interface TokenVerifier {
  verify(token: string): Promise<Principal>
}

export function createTokenVerifier(
  config: Pick<Config, 'jwksUrl' | 'jwtIssuer' | 'jwtAudience'>,
  jwtSecret: string | undefined,
  /** Accepted, too, while the secret is changed. */
  otherSecret?: string | undefined,
): TokenVerifier {
  const [secret, other] = [jwtSecret, otherSecret].map((text) =>
    text === undefined ? undefined : new TextEncoder().encode(text),
  )
  const remote = config.jwksUrl === undefined ? undefined : createRemoteJWKSet(new URL(config.jwksUrl))
  const key: JWTVerifyGetKey = (header, token) => {
    // The algorithm chooses the key, and each key takes its own algorithms only.
    if (header.alg === 'HS256' && secret) return secret
    if (header.alg !== 'HS256' && remote) return remote(header, token)
    throw invalid(`tokens signed with ${header.alg} are not accepted here`)
  }
  const options = {
    algorithms: ['HS256', 'RS256', 'ES256'],
    requiredClaims: ['sub', 'exp'],
    clockTolerance: 5,
    ...(config.jwtIssuer !== undefined && { issuer: config.jwtIssuer }),
    ...(config.jwtAudience !== undefined && { audience: config.jwtAudience }),
  }
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, options).catch((error) => {
          if (!other || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error
          return jwtVerify(token, other, { ...options, algorithms: ['HS256'] })
        })
        return principal(payload)
      } catch (error) {
        if (error instanceof StagedoorError) throw error
        if (error instanceof errors.JWTExpired) throw invalid('it has expired')
        if (error instanceof errors.JWSSignatureVerificationFailed)
          throw invalid('its signature does not match')
        if (isUnavailable(error))
          throw new StagedoorError('keys_unavailable', { reason: (error as Error).message })
        if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid)
          throw invalid('it is damaged or incomplete')
        throw invalid((error as Error).message)
      }
    },
  }
}

interface TokenRequest {
  readonly subject: string
  readonly role: string
  readonly expiresIn: string
  /** The token can only read. */
  readonly readOnly?: boolean
  /** Whose jobs a token of stagedoor_executor leases. */
  readonly executor?: string
}

/** For the embedded server and for tests. An identity provider of the user's signs its own tokens. */
export async function signToken(
  jwtSecret: string,
  request: TokenRequest,
  config?: Pick<Config, 'jwtIssuer' | 'jwtAudience'>,
): Promise<string> {
  const token = new SignJWT({
    role: request.role,
    ...(request.readOnly && { read_only: true }),
    ...(request.executor !== undefined && { executor: request.executor }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(request.subject)
    .setIssuedAt()
    .setExpirationTime(request.expiresIn)
  if (config?.jwtIssuer !== undefined) token.setIssuer(config.jwtIssuer)
  if (config?.jwtAudience !== undefined) token.setAudience(config.jwtAudience)
  return token.sign(new TextEncoder().encode(jwtSecret))
}

/** Claims of another type are refused: the signer and Stagedoor might read `["service_role"]` or `"true"` differently. */
function principal(payload: JWTPayload): Principal {
  const { sub, role = 'authenticated', read_only: readOnly = false, executor } = payload as Claims
  requireSubject(sub)
  if (typeof role !== 'string') throw invalid('its claim role is not a text')
  if (typeof readOnly !== 'boolean') throw invalid('its claim read_only is neither true nor false')
  if (executor !== undefined && typeof executor !== 'string')
    throw invalid('its claim executor is not a text')
  if (!isStorable(payload)) throw invalid('a claim holds a NUL character or half of a surrogate pair')
  if (!TOKEN_ROLES.includes(role)) throw invalid(`its role ${role} is none of ${TOKEN_ROLES.join(', ')}`)
  if (role === 'stagedoor_executor' && executor === undefined) {
    throw invalid('a token of stagedoor_executor names its executor in the claim `executor`')
  }
  return {
    subject: sub,
    role,
    readOnly,
    claims: { ...payload, role },
  }
}

interface Claims {
  readonly sub?: unknown
  readonly role?: unknown
  readonly read_only?: unknown
  readonly executor?: unknown
}

function requireSubject(sub: unknown): asserts sub is string {
  if (typeof sub !== 'string') throw invalid('its subject (sub) is not a text')
  if (!isSubject(sub)) {
    throw invalid('its subject (sub) is empty, longer than 255 characters or has control characters')
  }
  if (sub.startsWith('token:')) throw invalid('its subject (sub) is that of a machine token')
}

/** Whether PostgreSQL can store every text of it as JSON. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !/[\0\p{Cs}]/u.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, part]) => isStorable(name) && isStorable(part))
}

/** The provider did not answer, or not with keys: the token may still be valid. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC'
  )
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('token_invalid', { reason })
}
