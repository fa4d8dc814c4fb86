/**
 * Sign-in by OpenID Connect: authorization code with PKCE, as a flow of the server. The browser never sees a token of the provider, and
 * Stagedoor keeps none: the ID token says once who it is.
 */
import type { Configuration } from 'openid-client'
import type { Config } from '../kernel/config.ts'
import { StagedoorError, textOfThrown } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { isSubject } from './members.ts'
import { sha256 } from './secrets.ts'

/** Of each request to the provider. */
const TIMEOUT_SECONDS = 10

interface Identity {
  readonly subject: string
  /** How the provider says that people call them. */
  readonly name: string | undefined
  /** Only if the provider says that it is verified. */
  readonly email: string | undefined
}

/** What the server keeps until the browser returns. */
export interface Flow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface OidcProvider {
  /** What the button says. */
  readonly name: string
  /** Where the browser goes. */
  begin(): Promise<{ readonly url: string; readonly flow: Flow }>
  /** Exchanges the code of the callback and checks the ID token: signature, issuer, audience, expiry, nonce. `search` is the query of the callback. */
  complete(search: string, flow: Flow): Promise<Identity>
}

type OidcConfig = Pick<
  Config,
  | 'oidcIssuer'
  | 'oidcClientId'
  | 'oidcClientSecret'
  | 'oidcClientAuth'
  | 'oidcScopes'
  | 'oidcSubjectClaim'
  | 'oidcName'
  | 'publicUrl'
>

/** Undefined where no provider is configured. The provider is asked for its addresses when somebody first signs in. */
export function createOidcProvider(config: OidcConfig, callbackPath: string): OidcProvider | undefined {
  if (config.oidcIssuer === undefined || config.oidcClientId === undefined || config.publicUrl === undefined)
    return undefined
  const issuer = config.oidcIssuer
  const redirectUri = new URL(callbackPath, config.publicUrl).href
  const discovered = retained(() => discover(config))
  return {
    name: config.oidcName ?? new URL(issuer).host,
    async begin() {
      const oidc = await import('openid-client')
      const provider = await discovered().catch((error) => {
        throw unavailable(issuer, error)
      })
      const flow = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const url = oidc.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: config.oidcScopes,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, flow }
    },
    async complete(search, flow) {
      const oidc = await import('openid-client')
      const provider = await discovered().catch((error) => {
        throw unavailable(issuer, error)
      })
      try {
        const tokens = await oidc.authorizationCodeGrant(provider, new URL(`${redirectUri}${search}`), {
          pkceCodeVerifier: flow.verifier,
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
        })
        const idToken = tokens.claims()!
        const isComplete = Object.hasOwn(idToken, config.oidcSubjectClaim)
        const claims =
          isComplete || provider.serverMetadata().userinfo_endpoint === undefined
            ? idToken
            : { ...(await oidc.fetchUserInfo(provider, tokens.access_token, idToken.sub)), ...idToken }
        return identityOf(claims, config.oidcSubjectClaim)
      } catch (error) {
        throw refusedOrUnavailable(issuer, error)
      }
    },
  }
}

async function discover(config: OidcConfig): Promise<Configuration> {
  const oidc = await import('openid-client')
  const issuer = new URL(config.oidcIssuer!)
  const clientAuth = () => {
    if (config.oidcClientSecret === undefined) return oidc.None()
    return config.oidcClientAuth === 'basic'
      ? oidc.ClientSecretBasic(config.oidcClientSecret)
      : oidc.ClientSecretPost(config.oidcClientSecret)
  }
  return oidc.discovery(issuer, config.oidcClientId!, config.oidcClientSecret, clientAuth(), {
    timeout: TIMEOUT_SECONDS,
    // Only on this machine: the setting refuses others.
    ...(issuer.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
  })
}

/** Kept once it came; what failed is tried again. */
function retained<T>(load: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined
  return () => {
    kept ??= load().catch((error) => {
      kept = undefined
      throw error
    })
    return kept
  }
}

/** As the table of addresses checks it. */
const EMAIL = /^(?=.{3,254}$)[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/

function identityOf(claims: Readonly<Record<string, unknown>>, subjectClaim: string): Identity {
  const subject = claims[subjectClaim]
  if (typeof subject !== 'string' || !isSubject(subject) || subject.startsWith('token:'))
    throw refused(`the identity provider gave no usable claim ${subjectClaim}`)
  // Whoever may write any address into their profile would be whoever has that address.
  if (subjectClaim === 'email' && claims.email_verified !== true)
    throw refused('the identity provider does not say that the e-mail address is verified')
  const name = [claims.name, claims.preferred_username, claims.email].find(
    (text) => typeof text === 'string' && text.trim() !== '' && text.length <= 255 && !/\p{Cc}/u.test(text),
  )
  const email = claims.email_verified === true && typeof claims.email === 'string' ? claims.email : undefined
  return { subject, name: name as string | undefined, email: email && EMAIL.test(email) ? email : undefined }
}

function refused(reason: string, cause?: unknown): StagedoorError {
  return new StagedoorError('sign_in_refused', { reason }, { cause })
}

function unavailable(issuer: string, error: unknown): StagedoorError {
  return new StagedoorError('sign_in_unavailable', { issuer, reason: reasonOf(error) }, { cause: error })
}

/** fetch says only "fetch failed", and its cause why. */
function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return [textOfThrown(error), cause?.code ?? code].filter((word) => typeof word === 'string').join(', ')
}

function refusedOrUnavailable(issuer: string, error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const {
    name,
    code,
    error: answer,
    status,
  } = error as {
    name?: string
    code?: string
    error?: string
    status?: number
  }
  // What the provider put into the address of the callback; anybody could have written it there, so only known words are repeated.
  if (name === 'AuthorizationResponseError')
    return refused(
      answer === 'access_denied'
        ? 'it was cancelled, or the identity provider denied the access'
        : 'the identity provider answered with an error',
      error,
    )
  if (name === 'ResponseBodyError' && (status ?? 400) < 500)
    return refused('the identity provider did not accept the code; it may have been used already', error)
  if (code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' || code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED')
    return refused('the ID token is not for this sign-in (nonce, issuer, audience or time)', error)
  if (code?.startsWith('OAUTH_') && code !== 'OAUTH_TIMEOUT' && code !== 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return refused('the answer of the identity provider is not valid', error)
  return unavailable(issuer, error)
}

// Flows that wait for the browser. Another process may answer the callback, so the database keeps them; as service_role.

interface KeptFlow extends Flow {
  readonly returnTo: string
  readonly invitationHash: string | undefined
}

export async function keepFlow(db: Queryable, browser: string, flow: KeptFlow): Promise<void> {
  await db.query('select iu_core.fn_sign_in_flow_add($1, $2, $3, $4, $5, $6)', [
    sha256(flow.state),
    sha256(browser),
    flow.nonce,
    flow.verifier,
    flow.returnTo,
    flow.invitationHash ?? null,
  ])
}

/** Undefined if this browser began no such sign-in, or its callback came before. */
export async function takeFlow(db: Queryable, browser: string, state: string): Promise<KeptFlow | undefined> {
  const { rows } = await db.query<{
    nonce: string
    code_verifier: string
    return_to: string
    invitation_hash: string | null
  }>('select * from iu_core.fn_sign_in_flow_take($1, $2)', [sha256(state), sha256(browser)])
  const [row] = rows
  return (
    row && {
      state,
      nonce: row.nonce,
      verifier: row.code_verifier,
      returnTo: row.return_to,
      invitationHash: row.invitation_hash ?? undefined,
    }
  )
}
