/** Rights on a table of the user's that only its owner can grant: run as the owner, where the login of the command may. */
import type { Dataset } from '../ingest/datasets/dataset.ts'
import { datasetProblems } from '../ingest/datasets/registry.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { withClient } from '../kernel/postgres/connection.ts'
import { quoteName } from '../kernel/postgres/names.ts'
import { type Session, workspaceIfNamed } from './session.ts'

/** One transaction. Returns the statements that somebody else must run: none, or all of them. */
export async function grantAsOwner(
  session: Pick<Session, 'database'>,
  table: string,
  statements: readonly string[],
): Promise<readonly string[]> {
  const { directUrl } = await session.database()
  return withClient(directUrl, async (client) => {
    const { rows } = await client.query<{ owner: string }>(
      `select pg_get_userbyid(relowner) as owner from pg_class where oid = to_regclass($1)`,
      [table],
    )
    await client.query('begin')
    try {
      if (rows[0] !== undefined) await client.query(`set local role ${quoteName(rows[0].owner)}`)
      for (const statement of statements) await client.query(statement)
      await client.query('commit')
      return []
    } catch (error) {
      await client.query('rollback')
      // Somebody else's table: its owner runs them.
      if ((error as { code?: string }).code === '42501') return statements
      throw error
    }
  })
}

/** To read the table, and to create triggers on it. */
const MAX_GRANTS = 2

/** Does `work`; if it fails because rights are missing, grants them as the owner and does it again. */
export async function withOwnerGrants<T>(
  session: Pick<Session, 'database'>,
  table: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let granted = 0; ; granted++) {
    try {
      return await work()
    } catch (error) {
      const statements = error instanceof StagedoorError ? error.details.statements : undefined
      if (!Array.isArray(statements) || granted === MAX_GRANTS) throw error
      if ((await grantAsOwner(session, table, statements)).length > 0) throw error
    }
  }
}

const IS_GRANT = /^grant [^;]*;\s*$/i

/**
 * On the embedded server: the rights that its tables lack before the dataset can be registered. Where more than rights is missing nothing is
 * granted, and all of it is one script for the owner.
 */
export async function grantRightsOfDataset(
  session: Pick<Session, 'administrator' | 'database' | 'isExternal'> & {
    readonly options: { readonly workspace?: string }
  },
  dataset: Dataset,
): Promise<void> {
  if (await session.isExternal()) return
  const problems = await session.administrator(async (client) =>
    datasetProblems(client, dataset, await workspaceIfNamed(client, session.options.workspace)),
  )
  const grants = problems.flatMap(({ remedy }) => (remedy !== null && IS_GRANT.test(remedy) ? [remedy] : []))
  if (grants.length > 0 && grants.length === problems.length)
    await grantAsOwner(session, dataset.rows[0]!.target, grants)
}
