/**
 * The tool `sql`: one statement of the playbook's, in a transaction of its own, as the login stagedoor_playbook. That login is
 * a member of nothing: there is no role to become, and claims that a statement forges count for nothing (DESIGN 4). What it
 * may touch is what its operator granted to it.
 */
import pg from 'pg'
import type { Pool } from '../../db/connection.ts'
import { mapConnectionError } from '../../db/database-error.ts'
import { isTransient } from '../../db/transient.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import { type Tool, type ToolContext, ToolError } from '../tool.ts'
import { Arguments } from './arguments.ts'
import { LimitedQuery } from './limited-query.ts'
import { sqlTypes } from './sql-values.ts'

export const MOST_ROWS = 10_000

/** Without a pool (PLAYBOOK_DATABASE_URL is not set) every call says what to set. */
export function sqlTool(pool: Pool | undefined): Tool {
  return async (_call, args, context) => {
    const given = statementOf(args)
    if (pool === undefined) throw notConfigured()
    const client = await pool.connect().catch((error) => {
      throw asToolError(mapConnectionError(error))
    })
    let broken: Error | undefined
    try {
      return await inOwnTransaction(client, pool, given, context)
    } catch (error) {
      broken = error as Error
      throw asToolError(error)
    } finally {
      // After an error the session goes: a cancel that comes late must not end somebody else's statement.
      client.release(broken)
    }
  }
}

interface Statement {
  readonly query: string
  readonly params: readonly Json[]
  readonly rows: 'all' | 'one' | 'none'
  readonly limit: number
}

function statementOf(args: JsonObject): Statement {
  const given = new Arguments('sql', args, ['query', 'params', 'rows', 'limit'])
  return {
    query: given.text('query'),
    params: given.list('params'),
    rows: given.oneOf('rows', ['all', 'one', 'none']) ?? 'all',
    limit: given.integer('limit', 1, MOST_ROWS) ?? MOST_ROWS,
  }
}

async function inOwnTransaction(
  client: pg.PoolClient,
  pool: Pool,
  given: Statement,
  context: ToolContext,
): Promise<Json> {
  context.signal.throwIfAborted()
  await client.query(begin(context))
  const cancel = () => void cancelStatement(client, pool)
  context.signal.addEventListener('abort', cancel, { once: true })
  try {
    const result = resultOf(await run(client, given), given)
    await refuseLeftovers(client)
    await client.query('commit')
    // Settings, temporary tables and locks of this statement must not meet the next one's.
    await client.query('discard all')
    return result
  } finally {
    context.signal.removeEventListener('abort', cancel)
  }
}

/** What follows from it follows from what the execution follows from. */
function begin({ cause, playbook, step, deadline }: ToolContext): string {
  const timeout = deadline === undefined ? 0 : Math.max(1, deadline.getTime() - Date.now())
  const settings = {
    application_name: `stagedoor playbook ${playbook} ${step}`,
    'stagedoor.cause': cause ?? '',
    statement_timeout: String(timeout),
    idle_in_transaction_session_timeout: '60000',
    // A time must not change with the server that writes it.
    timezone: 'UTC',
    datestyle: 'ISO',
  }
  const set = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, true)`,
  )
  return `begin; select ${set.join(', ')}`
}

/**
 * What PostgreSQL lets everybody do, and a playbook must not: large objects stay for ever and belong to no table, and an advisory lock may
 * be one of ours. Neither can be revoked from one login on a server that is not ours, so the transaction is undone. What was made before this
 * was refused may stay: the age of a row is counted from the transaction that asks, and only its own are not older.
 */
async function refuseLeftovers(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ objects: boolean; locks: boolean }>(
    `select exists (select from pg_catalog.pg_largeobject_metadata where lomowner = session_user::regrole and age(xmin) <= 0) as objects,
            exists (select from pg_catalog.pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
  )
  if (rows[0]!.objects) {
    throw new ToolError(
      'A statement of the tool sql makes no large objects; write the bytes into a column of type bytea',
    )
  }
  if (rows[0]!.locks) {
    throw new ToolError(
      'A statement of the tool sql takes no advisory locks; lock rows of a table (for update)',
    )
  }
}

async function run(client: pg.PoolClient, { query, params, rows, limit }: Statement): Promise<LimitedQuery> {
  const most = rows === 'one' ? 1 : rows === 'none' ? 0 : limit
  const limited = new LimitedQuery({ text: query, values: params.map(asParameter), types: sqlTypes }, most)
  await limited.runOn(client)
  if (['BEGIN', 'START', 'COMMIT', 'ROLLBACK', 'PREPARE'].includes(limited.command)) {
    throw new ToolError(
      'Each call of the tool sql is a transaction of its own: leave begin, commit and rollback out',
    )
  }
  return limited
}

/** Lists and maps go as JSON: for a PostgreSQL array write array(select jsonb_array_elements_text($1)). */
function asParameter(value: Json): string | number | boolean | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

function resultOf({ rows, rowCount, isMore }: LimitedQuery, given: Statement): Json {
  if (given.rows === 'none') return { row_count: rowCount }
  if (given.rows === 'one') {
    if (rows.length === 1 && !isMore) return { row: rows[0]!, row_count: 1 }
    throw new ToolError(
      `The statement gave ${isMore ? 'more than one row' : 'no row'}, and rows: one asks for exactly one`,
    )
  }
  if (!isMore) return { rows, row_count: rowCount }
  throw new ToolError(
    `The statement gives more than ${given.limit} rows; aggregate them, page with limit and a key, or write them into a table`,
  )
}

async function cancelStatement(client: pg.PoolClient, pool: Pool): Promise<void> {
  const { processID } = client as unknown as { processID: number }
  await pool.query('select pg_cancel_backend($1)', [processID]).catch(() => {})
}

function asToolError(error: unknown): unknown {
  if (error instanceof ToolError) return error
  if (!(error instanceof pg.DatabaseError)) return error
  const { message, code, detail, hint, position } = error
  const remedy = hint ?? (code === '42501' ? grantFor(message) : undefined)
  const more = [detail, remedy && `hint: ${remedy}`, position && `at character ${position}`].filter(Boolean)
  const text = `${message} (${code})${more.length > 0 ? `; ${more.join('; ')}` : ''}`
  return new ToolError(text, { retryable: isTransient(error), cause: error })
}

/** Which right a statement lacked PostgreSQL does not say. */
function grantFor(message: string): string | undefined {
  const [, kind, name] =
    /^permission denied for (table|view|sequence|schema|function) (.+)$/.exec(message) ?? []
  if (kind === undefined) return undefined
  if (kind === 'schema' || kind === 'sequence') return `grant usage on ${kind} ${name} to stagedoor_playbook`
  if (kind === 'function') return `grant execute on function ${name} to stagedoor_playbook`
  return `grant select on ${name} to stagedoor_playbook, and insert, update or delete where it writes`
}

function notConfigured(): ToolError {
  return new ToolError(
    'No database was named for the sql of playbooks: set PLAYBOOK_DATABASE_URL to the login stagedoor_playbook (`stagedoor login --reset` prints it) and grant it what its statements need',
  )
}
