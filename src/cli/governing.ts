/** As whom a command registers, and as whom it decides: what has to be two people's work, as far as a command line can tell. */
import { reviewsSomewhere } from '../access/members.ts'
import { type Client, createPool, withClient } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import { inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { type ActingOptions, callerFor } from './acting.ts'
import { type GlobalOptions, withDatabase } from './context.ts'

/**
 * One transaction as the owner of everything of ours. Registering is the login's: it cannot name another, or one login could
 * register in one name and review in the next.
 */
export async function administering<T>(
  options: GlobalOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return withDatabase(options, async (database) => {
    const pool = createPool(database.directUrl, { max: 1, purpose: 'cli', role: 'workflow_admin' })
    try {
      return await inTransaction(pool, work)
    } finally {
      await pool.end()
    }
  })
}

export interface Decision {
  /** Where what is decided about belongs; null: to no workspace, so that no member could have the right to. */
  workspace(client: Client): Promise<string | null>
  /** The same over HTTP. */
  readonly call: string
}

/**
 * One transaction as the member who decides, under their own rights. What belongs to no workspace is the back end's to decide;
 * where the whole server is theirs, it does so in the name of somebody who reviews in some workspace.
 */
export async function deciding<T>(
  options: ActingOptions,
  { workspace, call }: Decision,
  work: (client: Client, actor: string | undefined) => Promise<T>,
): Promise<T> {
  return withDatabase(options, async (database) => {
    const backEnd = createPool(database.workerUrl, { max: 1, purpose: 'cli', role: 'dot_executor' })
    const requests = createPool(database.apiUrl, { max: 1, purpose: 'cli' })
    try {
      const found = await inTransaction(backEnd, workspace)
      const caller = await callerFor(database, options, {
        decides: true,
        call,
        ...(found !== null && { workspace: found }),
      })
      if (found !== null) return await inTransaction(requests, (client) => work(client, undefined), caller)
      const actor = subjectOf(caller)
      await requireReviewer(database, actor)
      return await inTransaction(backEnd, (client) => work(client, actor), {
        role: 'service_role',
      })
    } finally {
      await Promise.all([backEnd.end(), requests.end()])
    }
  })
}

async function requireReviewer(database: Database, user: string | undefined): Promise<void> {
  const may =
    user !== undefined &&
    (await withClient(database.directUrl, (client) => reviewsSomewhere(client, user), {
      role: 'workflow_admin',
    }))
  if (may) return
  const reason = 'they review in no workspace'
  throw new StagedoorError(
    'permission_denied',
    { reason },
    { message: `Refused: ${reason}`, hint: 'Somebody who may review does: --as reviewer.' },
  )
}

function subjectOf(caller: Awaited<ReturnType<typeof callerFor>>): string | undefined {
  return caller?.claims?.sub as string | undefined
}
