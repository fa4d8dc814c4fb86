/** One caller of the MCP server: who it is, its transactions, and what its calls may cost. Both transports make one. */
import { realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import type { ServerContext } from '@modelcontextprotocol/server'
import { type Right, resolveWorkspace, whoAmI } from '../access/members.ts'
import type { Principal } from '../access/tokens.ts'
import { WRITES_GATE } from '../gates/gates.ts'
import type { IngestActor, PipelineDeps } from '../ingest/pipeline.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { Semaphore } from '../runtime/semaphore.ts'
import type { Search } from '../search/library.ts'
import { errorOf, type Missing } from './answers.ts'

export const TOOLSETS = ['data', 'knowledge', 'work'] as const
export type Toolset = (typeof TOOLSETS)[number]

/** Names, separated by commas. */
export function parseToolsets(list: string): readonly Toolset[] {
  const named = list.split(',').map((one) => one.trim())
  const unknown = named.find((one) => !TOOLSETS.includes(one as Toolset))
  if (unknown === undefined) return named as Toolset[]
  const reason = `There is no toolset ${unknown || 'without a name'}; there are ${TOOLSETS.join(', ')}`
  throw new StagedoorError('argument_invalid', { reason })
}

/** What a process shares between all callers. */
export interface McpDeps {
  /** Logged in as the worker: reads files after the caller's right was checked. */
  readonly ingest: PipelineDeps
  readonly search: Search
  /** Work that reads a file: few at once in a process, one for each caller. Default: `createSlots()`. */
  readonly slots: Semaphore
  /** An error that is a bug: it stays here, and the caller gets no more than its code. */
  readonly onInternalError: (error: unknown) => void
}

export interface McpOptions {
  /** Default: all. */
  readonly toolsets?: readonly Toolset[] | undefined
  /** The folder whose files may be named in calls; default: none. Only for a server on the caller's own machine. */
  readonly files?: string | undefined
}

export interface McpSession {
  /** Where it is `readOnly`, there are only tools that read, and the database refuses every write. */
  readonly principal: Principal
  /** Runs in one transaction under the caller's role and claims, as a request over HTTP does. */
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** The address of the console, for links. */
  readonly consoleUrl: string
  readonly deps: McpDeps
  readonly options: McpOptions
  /** Throws when the caller has called too often. */
  admit?(): void
}

/** Files that are read at once in a process. */
const FILES_AT_ONCE = 2

export function createSlots(): Semaphore {
  return new Semaphore(FILES_AT_ONCE, { perKey: 1 })
}

/** One call of a tool. */
export class ToolCall {
  readonly session: McpSession
  readonly context: ServerContext
  /** Whether the client can open an address for the person in front of it. */
  readonly opensUrls: boolean

  constructor(session: McpSession, context: ServerContext, opensUrls: boolean) {
    this.session = session
    this.context = context
    this.opensUrls = opensUrls
  }

  get deps(): McpDeps {
    return this.session.deps
  }

  get signal(): AbortSignal {
    return this.context.mcpReq.signal
  }

  transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.session.transaction(work)
  }

  get actor(): IngestActor {
    return { transaction: (work) => this.session.transaction(work) }
  }

  /** The workspace that is named by id or name, else the only one that the caller is in. */
  async workspace(client: Client, named: string | undefined): Promise<string> {
    return resolveWorkspace(client, named, async () => (await whoAmI(client)).workspaces)
  }

  /** Waits for one of the places of the process. */
  inSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.deps.slots.within({ key: this.session.principal.subject, signal: this.signal }, work)
  }

  /** Where the console shows a change. */
  changeUrl(number: number | null): string | null {
    return number === null ? null : `${this.session.consoleUrl}/changes/${number}`
  }

  /** The path of a file in the folder that `--files` names. */
  async fileIn(name: string): Promise<string> {
    const { files } = this.session.options
    if (files === undefined)
      throw new StagedoorError(
        'request_invalid',
        { reason: 'this server reads no files' },
        {
          hint: 'Send the text itself: `csv` or `rows` of propose_rows, `text` of profile_file. Whoever starts a server over stdio can name a folder whose files it reads.',
        },
      )
    const folder = await realpath(files)
    const path = await realpath(resolve(folder, name)).catch(() => undefined)
    const inside = path === undefined ? undefined : relative(folder, path)
    if (path === undefined || inside === '' || inside!.split(sep)[0] === '..' || !(await stat(path)).isFile())
      throw new StagedoorError('not_found', { what: 'file of that name in the folder of --files' })
    return path
  }
}

/** What the caller of a refused tool lacks; undefined: the error is about something else. */
export async function missingOf(
  session: McpSession,
  thrown: unknown,
  right: Right | undefined,
): Promise<Missing | undefined> {
  const { code, details } = errorOf(thrown)
  if (code === 'gate_closed') return { gate: typeof details.gate === 'string' ? details.gate : WRITES_GATE }
  if (code !== 'permission_denied' && code !== 'right_missing') return undefined
  if (session.principal.readOnly && right !== 'read') return { token: 'a token that can write' }
  const have = await rightsOf(session).catch(() => undefined)
  if (right !== undefined && have !== undefined && !have.includes(right)) return { right, have }
  return { role: session.principal.role, ...(have && { have }) }
}

/** In any workspace. An agent's token has no more than the rights of an agent, whatever its subject is otherwise. */
function rightsOf(session: McpSession): Promise<string[]> {
  return session.transaction(async (client) => {
    const { workspaces } = await whoAmI(client)
    const rights = new Set(workspaces.flatMap((workspace) => workspace.rights))
    if (session.principal.role !== 'stagedoor_agent') return [...rights]
    const { rows } = await client.query<{ rights: string[] }>(
      `select rights from iu_core.app_role where app_role = 'agent'`,
    )
    return (rows[0]?.rights ?? []).filter((one) => rights.has(one))
  })
}
