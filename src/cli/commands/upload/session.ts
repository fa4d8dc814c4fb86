/** What a command about uploads works with: one open database, and transactions as the member or as the back end. */
import { listMembers } from '../../../access/members.ts'
import type { Config } from '../../../config.ts'
import { type Client, createPool, type Pool, withClient } from '../../../db/connection.ts'
import type { Database } from '../../../db/open.ts'
import { type Caller, inTransaction } from '../../../db/transaction.ts'
import { type ActingOptions, callerFor, type Scope } from '../../acting.ts'
import { withDatabase } from '../../context.ts'

export interface Session {
  readonly config: Config
  readonly external: boolean
  /** The back end's connections, for what only it may do: read files into the staging rows. */
  readonly pool: Pool
  /** One transaction as the member that --as names, else as the back end. */
  act<T>(work: (client: Client) => Promise<T>, decision?: { decides: boolean }): Promise<T>
  /** One transaction as the back end, whoever is named. */
  backEnd<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** What people call the members of a workspace, by their ids. */
  names(workspace: string): Promise<Names>
}

export type Names = (actor: string) => string

export async function withSession<T>(
  options: ActingOptions,
  scope: Scope,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return withDatabase(options, async (database, config) => {
    const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 4, purpose: 'cli' })
    const requests = createPool(database.apiUrl, { max: 1, purpose: 'cli' })
    const caller = remembered((decides) => callerFor(database, options, { ...scope, decides }))
    const backEnd: Session['backEnd'] = (task) => inTransaction(pool, task, { role: 'service_role' })
    try {
      return await work({
        config,
        external: database.kind === 'external',
        pool,
        async act(task, { decides } = { decides: false }) {
          const member = await caller(decides)
          return member ? inTransaction(requests, task, member) : backEnd(task)
        },
        backEnd,
        names: (workspace) => namesIn(database, workspace),
      })
    } finally {
      await Promise.all([pool.end(), requests.end()])
    }
  })
}

/** A member is looked for once, however many steps a command has. */
function remembered(
  find: (decides: boolean) => Promise<Caller | undefined>,
): (decides: boolean) => Promise<Caller | undefined> {
  const found = new Map<boolean, Promise<Caller | undefined>>()
  return (decides) => {
    const caller = found.get(decides) ?? find(decides)
    found.set(decides, caller)
    return caller
  }
}

/** Of one workspace or of all. A courtesy: where the login may not look at the members, their ids are shown. */
export async function namesIn(database: Database, workspace?: string): Promise<Names> {
  const members = await withClient(database.directUrl, (client) => listMembers(client, workspace), {
    role: 'workflow_admin',
  }).catch(() => [])
  const names = new Map(members.map((member) => [member.user_id, member.display_name]))
  return (actor) => names.get(actor) ?? actor
}
