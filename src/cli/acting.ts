/** As whom a command acts: as the back end (the login itself), or as a member of a workspace with --as. */
import { Option } from 'commander'
import { APP_ROLES, type AppRole, findMember, listWorkspaces } from '../access/members.ts'
import { type Client, createPool, withClient } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import { type Caller, inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { type GlobalOptions, withDatabase } from './context.ts'

export interface ActingOptions extends GlobalOptions {
  readonly as?: AppRole
}

export function asOption(): Option {
  return new Option('--as <role>', 'act as the member with this role, not as the back end').choices(APP_ROLES)
}

/** One transaction, like a request of that member over HTTP. */
export async function acting<T>(
  options: ActingOptions,
  work: (client: Client, database: Database) => Promise<T>,
  decides = false,
): Promise<T> {
  return withDatabase(options, async (database) => {
    const caller = options.as ? await memberOf(database, options.as, decides) : undefined
    const url = caller ? database.apiUrl : database.workerUrl
    const pool = createPool(url, { max: 1, purpose: 'cli', ...(!caller && { role: 'dot_executor' }) })
    try {
      return await inTransaction(pool, (client) => work(client, database), caller)
    } finally {
      await pool.end()
    }
  })
}

/** People decide under stagedoor_reviewer, where their membership is checked; agents stay agents. */
async function memberOf(database: Database, role: AppRole, decides: boolean): Promise<Caller> {
  const member = await withClient(database.directUrl, (client) => findMember(client, { role }), {
    role: 'workflow_admin',
  })
  if (!member) throw new StagedoorError('not_found', { what: `member with the role ${role}` })
  const person = member.database_role === 'authenticated'
  const databaseRole = decides && person ? 'stagedoor_reviewer' : member.database_role
  return { role: databaseRole, claims: { sub: member.user_id, role: databaseRole } }
}

/** The workspace that was named by id or name, else the only one there is. */
export async function workspaceOf(client: Client, named: string | undefined): Promise<string> {
  const rows = await listWorkspaces(client)
  const found = named === undefined ? rows : rows.filter((row) => row.id === named || row.name === named)
  if (found.length === 1) return found[0]!.id
  const names = rows.map((row) => row.name ?? row.id).join(', ') || 'none that you can see'
  throw new StagedoorError('argument_invalid', {
    reason:
      named === undefined
        ? `Say which workspace with --workspace: ${names}`
        : `There is no workspace ${named}: ${names}`,
  })
}
