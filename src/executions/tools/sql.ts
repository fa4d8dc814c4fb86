/**
 * The tool `sql`: one statement of the playbook's, in a transaction of its own, as the login stagedoor_playbook. That login is
 * a member of nothing: there is no role to become, and claims that a statement forges count for nothing (DESIGN 4). What it
 * may touch is what its operator granted to it.
 */
import pg from 'pg'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { Pool } from '../../kernel/postgres/connection.ts'
import { isTransient, mapConnectionError } from '../../kernel/postgres/errors.ts'
import { MAX_ROWS, type Tool, ToolArguments, type ToolContext, ToolError } from './tool.ts'

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
  const given = new ToolArguments('sql', args, ['query', 'params', 'rows', 'limit'])
  return {
    query: given.text('query'),
    params: given.list('params'),
    rows: given.oneOf('rows', ['all', 'one', 'none']) ?? 'all',
    limit: given.integer('limit', 1, MAX_ROWS) ?? MAX_ROWS,
  }
}

async function inOwnTransaction(
  client: pg.PoolClient,
  pool: Pool,
  given: Statement,
  context: ToolContext,
): Promise<Json> {
  context.signal.throwIfAborted()
  await client.query(beginSql(context))
  const cancel = () => void cancelStatement(client, pool)
  context.signal.addEventListener('abort', cancel, { once: true })
  try {
    const result = resultOf(await runStatement(client, given), given)
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
function beginSql({ cause, playbook, step, deadline }: ToolContext): string {
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

async function runStatement(
  client: pg.PoolClient,
  { query, params, rows, limit }: Statement,
): Promise<LimitedQuery> {
  const maxRows = rows === 'one' ? 1 : rows === 'none' ? 0 : limit
  const limited = new LimitedQuery({ text: query, values: params.map(asParameter), types: sqlTypes }, maxRows)
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

// One statement by the extended protocol, which takes no second one, and no more rows than were asked for: the server is
// told to stop, so that a forgotten WHERE does not fill the memory of the process.

interface PortalConnection {
  sync(): void
}

/** What the driver's own class does and its types do not say. */
interface DriverQuery {
  new (config: object, values: undefined, done: (error: Error | null, result: pg.QueryResult) => void): object
}

class LimitedQuery {
  rows: JsonObject[] = []
  /** Of what it wrote or gave. */
  rowCount = 0
  command = ''
  isMore = false
  private readonly config: object
  private readonly maxRows: number

  /** With 0 it runs to its end and its rows are dropped: what a SELECT calls is called for every row. */
  constructor(config: { text: string; values: unknown[]; types: pg.CustomTypesConfig }, maxRows: number) {
    // One more than asked for tells whether there are more.
    this.config = { ...config, queryMode: 'extended', ...(maxRows > 0 && { rows: maxRows + 1 }) }
    this.maxRows = maxRows
  }

  async runOn(client: pg.PoolClient): Promise<void> {
    let suspended = false
    const result = await new Promise<pg.QueryResult>((resolve, reject) => {
      const query = new (pg.Query as unknown as DriverQuery)(this.config, undefined, (error, answer) =>
        error ? reject(error) : resolve(answer),
      )
      Object.assign(query, {
        handlePortalSuspended(connection: PortalConnection) {
          suspended = true
          connection.sync()
        },
        ...(this.maxRows === 0 && { handleDataRow() {} }),
      })
      client.query(query as pg.Submittable)
    })
    this.isMore = suspended || (this.maxRows > 0 && result.rows.length > this.maxRows)
    this.rows = result.rows.slice(0, this.maxRows)
    this.command = result.command ?? ''
    this.rowCount = result.rowCount ?? this.rows.length
  }
}

// What PostgreSQL answers, as JSON without loss: what a number of JavaScript cannot hold is a text, times are ISO 8601.

const {
  BOOL,
  INT2,
  INT4,
  OID,
  FLOAT4,
  FLOAT8,
  JSON: JSON_TYPE,
  JSONB,
  TIMESTAMP,
  TIMESTAMPTZ,
} = pg.types.builtins

type Parse = (text: string) => Json

/** NaN and the infinities stay texts. */
const float: Parse = (text) => (Number.isFinite(Number(text)) ? Number(text) : text)
const time: Parse = (text) =>
  /^\d{4}-\d\d-\d\d \d\d:/.test(text) && !text.endsWith('BC')
    ? text.replace(' ', 'T').replace(/\+00$/, 'Z')
    : text

const SCALARS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [BOOL, (text) => text === 't'],
  [INT2, Number],
  [INT4, Number],
  [OID, Number],
  [FLOAT4, float],
  [FLOAT8, float],
  [JSON_TYPE, (text) => JSON.parse(text) as Json],
  [JSONB, (text) => JSON.parse(text) as Json],
  [TIMESTAMP, time],
  [TIMESTAMPTZ, time],
])

/** Arrays of the types above, and of those whose text is their value. */
const ARRAYS: ReadonlyMap<number, number | undefined> = new Map([
  [1000, BOOL],
  [1005, INT2],
  [1007, INT4],
  [1028, OID],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [199, JSON_TYPE],
  [3807, JSONB],
  [1115, TIMESTAMP],
  [1185, TIMESTAMPTZ],
  ...[1001, 1002, 1003, 1009, 1014, 1015, 1016, 1182, 1183, 1187, 1231, 2951].map(
    (oid) => [oid, undefined] as const,
  ),
])

const TEXT_ARRAY = 1009
const parseTextArray = pg.types.getTypeParser(TEXT_ARRAY as never, 'text') as (text: string) => Nested
type Nested = readonly (string | null | Nested)[]

const asText: Parse = (text) => text

const sqlTypes = {
  getTypeParser(oid: number): Parse {
    if (!ARRAYS.has(oid)) return SCALARS.get(oid) ?? asText
    const parse = SCALARS.get(ARRAYS.get(oid) ?? 0) ?? asText
    return (text) => mapNested(parseTextArray(text), parse)
  },
} as unknown as pg.CustomTypesConfig

function mapNested(values: Nested, parse: Parse): Json {
  return values.map((value) =>
    value === null ? null : typeof value === 'string' ? parse(value) : mapNested(value, parse),
  )
}
