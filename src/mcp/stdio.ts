/**
 * MCP over stdin and stdout: one caller, whose token is in the environment. The process works on the database itself, so no server has to
 * run; every transaction still runs under the role and claims of the token, which is verified again for each call.
 */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { CredentialCache } from '../access/credential-cache.ts'
import { checkMachineToken, isMachineToken, type MachinePrincipal } from '../access/machine-tokens.ts'
import type { Principal, TokenVerifier } from '../access/tokens.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { createMcpServer } from './server.ts'
import type { McpDeps, McpOptions, McpSession } from './session.ts'

const MINUTE_MS = 60_000
/** One message: four MiB of text whose quotes and line ends are escaped. */
const MAX_MESSAGE_BYTES = 6 * 1024 ** 2

export interface StdioSettings {
  /** Logged in as stagedoor_api. */
  readonly pool: Pool
  readonly tokens: TokenVerifier
  readonly token: string
  readonly deps: McpDeps
  readonly consoleUrl: string
  readonly options: McpOptions
  readonly readOnly: boolean
  /** Calls a minute; 0: no limit. */
  readonly rateLimit: number
  readonly onError: (error: Error) => void
}

/** Resolves when it serves; `closed` when the client has ended the connection. */
export async function serveMcp(
  settings: StdioSettings,
): Promise<{ readonly principal: Principal; readonly closed: Promise<void>; close(): Promise<void> }> {
  const authenticate = authenticator(settings)
  const principal = await authenticate()
  const session: McpSession = {
    principal,
    // A token that has expired or was revoked meanwhile ends the work of this process, too.
    transaction: async (work) => inTransaction(settings.pool, work, await authenticate()),
    consoleUrl: settings.consoleUrl,
    deps: settings.deps,
    options: settings.options,
    admit: callsPerMinute(settings.rateLimit),
  }
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: MAX_MESSAGE_BYTES,
  })
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
  })
  const handle = serveStdio(() => createMcpServer(session), { transport, onerror: settings.onError })
  return { principal, closed, close: () => handle.close() }
}

function authenticator({ pool, tokens, token, readOnly }: StdioSettings): () => Promise<Principal> {
  const cache = new CredentialCache<MachinePrincipal>(undefined)
  const verify = async (): Promise<Principal> => {
    if (!isMachineToken(token)) return tokens.verify(token)
    const principal = await checkMachineToken(pool, token, cache)
    if (principal) return principal
    throw new StagedoorError('token_invalid', { reason: 'it is unknown, has expired or was revoked' })
  }
  return async () => {
    const principal = await verify()
    return readOnly ? { ...principal, readOnly: true } : principal
  }
}

/** A window a minute. Over HTTP the server counts. */
export function callsPerMinute(max: number, now: () => number = Date.now): () => void {
  let began = now()
  let calls = 0
  return () => {
    if (max === 0) return
    const at = now()
    if (at - began >= MINUTE_MS) {
      began = at
      calls = 0
    }
    if (++calls > max)
      throw new StagedoorError('rate_limited', { seconds: Math.ceil((began + MINUTE_MS - at) / 1000) })
  }
}
