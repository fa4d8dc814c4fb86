/**
 * The session in which a proposed statement is worked out: the login stagedoor_proposer, which has rights on open tables and nothing else, in a
 * transaction that is always rolled back. Gives the old and the new row of every row that the statement changes.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Client, Pool } from '../../kernel/postgres/connection.ts'
import { isConnectionError, mapConnectionError } from '../../kernel/postgres/errors.ts'
import { quoteName } from '../../kernel/postgres/names.ts'
import {
  type AnalysedStatement,
  analyseStatement,
  type OpenTable,
  type RowOperation,
  refused,
} from './statement.ts'

export const PROPOSER = 'stagedoor_proposer'
/** Of one statement, in ms: what it may take, and how long it waits for locks of others. */
const STATEMENT_TIMEOUT_MS = 5000
const LOCK_TIMEOUT_MS = 500
/** Of old and new rows together, as text. */
const MAX_IMAGE_LENGTH = 64 * 1024 * 1024

/** A row before and after, as PostgreSQL writes a row; null: there is none. */
export interface RowChange {
  readonly action: RowOperation
  readonly before: string | null
  readonly after: string | null
}

export interface WorkedOut extends AnalysedStatement {
  readonly rows: readonly RowChange[]
  /** With its analysis. */
  readonly tookMs: number
  /** From the statement to the end of its rollback. */
  readonly lockedMs: number
}

export interface ProposalScope {
  readonly workspaceId: string
  /** Who proposes, for the policies of row level security. */
  readonly actor: string
  readonly tables: readonly OpenTable[]
}

export async function workOut(pool: Pool, statement: string, scope: ProposalScope): Promise<WorkedOut> {
  const started = performance.now()
  const client = await pool.connect().catch((error) => {
    throw mapConnectionError(error)
  })
  let broken: Error | undefined
  try {
    const analysed = await rolledBack(client, scope, 'read committed', async (version) => {
      await requireLogin(client)
      return { version, ...(await analyseStatement(client, statement, scope.tables)) }
    })
    const { version, operation, table, defaults } = analysed
    if (operation === 'merge' && version < 170000)
      throw refused(
        'MERGE tells what it did from PostgreSQL 17 on',
        'Write INSERT … ON CONFLICT … DO UPDATE, or one UPDATE, INSERT or DELETE for each part.',
      )
    let lockedFrom = 0
    const work = version >= 180000 ? withOldAndNew : withOldByKey
    const isolation = version >= 180000 ? 'read committed' : 'repeatable read'
    const rows = await rolledBack(client, scope, isolation, () => {
      lockedFrom = performance.now()
      return work(client, statement, analysed)
    })
    const lockedMs = performance.now() - lockedFrom
    return { operation, table, defaults, rows, lockedMs, tookMs: performance.now() - started }
  } catch (error) {
    if (error instanceof StagedoorError) throw error
    if (isConnectionError(error)) broken = error as Error
    throw explain(error)
  } finally {
    client.release(broken)
  }
}

async function rolledBack<T>(
  client: Client,
  { workspaceId, actor }: ProposalScope,
  isolation: string,
  work: (version: number) => Promise<T>,
): Promise<T> {
  const claims = pg.escapeLiteral(JSON.stringify({ sub: actor, role: PROPOSER, workspace_id: workspaceId }))
  // Values are read back as text: only their form is set, the time zone and the order of dates stay as a direct statement would have them.
  const answers = (await client.query(
    `begin isolation level ${isolation};
     set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local lock_timeout = ${LOCK_TIMEOUT_MS};
     set local idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS};
     set local search_path = pg_catalog, public, pg_temp; set local standard_conforming_strings = on;
     set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local extra_float_digits = 1; set local bytea_output = 'hex';
     set local check_function_bodies = on; set local row_security = on; set local jit = off;
     select pg_catalog.set_config('request.jwt.claims', ${claims}, true),
            pg_catalog.set_config('stagedoor.workspace_id', ${pg.escapeLiteral(workspaceId)}, true),
            pg_catalog.current_setting('server_version_num')::int as version`,
  )) as unknown as pg.QueryResult<{ version: number }>[]
  try {
    return await work(answers.at(-1)!.rows[0]!.version)
  } finally {
    // What a trigger or a default has locked for the session would outlive the rollback.
    await client.query('rollback; select pg_catalog.pg_advisory_unlock_all()')
  }
}

/** Somebody may have named another login, or given this one more than rights on tables. */
async function requireLogin(client: Client): Promise<void> {
  const { rows } = await client.query<{ login: string; powerful: boolean; member: boolean; owner: boolean }>(
    `select session_user as login, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as powerful,
            exists (select from pg_catalog.pg_auth_members m where m.member = r.oid) as member,
            exists (select from pg_catalog.pg_class c where c.relowner = r.oid) as owner
       from pg_catalog.pg_roles r where r.rolname = session_user and current_user = session_user`,
  )
  const { login = '', powerful = true, member = true, owner = true } = rows[0] ?? {}
  if (login === PROPOSER && !powerful && !member && !owner) return
  const reason =
    login === PROPOSER ? `${PROPOSER} may do more than change open tables` : `the login is ${login}`
  throw new StagedoorError('proposal_login_missing', { reason })
}

/** As PostgreSQL writes them. */
const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (value: string) => value } as never

type Values = readonly (string | null)[]

/** From PostgreSQL 18 on a statement returns both rows itself. */
async function withOldAndNew(
  client: Client,
  statement: string,
  { table }: AnalysedStatement,
): Promise<RowChange[]> {
  // No table of the user has such a name.
  const id = randomBytes(6).toString('hex')
  const returning = `returning with (old as before_${id}, new as after_${id}) before_${id}.*, after_${id}.*`
  const rows = await changedRows(client, statement, returning, table)
  const width = table.names.length
  const key = table.names.findIndex(({ name }) => table.key.includes(name))
  return rows.map((row) => {
    const [before, after] = [row.slice(0, width), row.slice(width)]
    // A column of the key is never NULL.
    const action = before[key] === null ? 'insert' : after[key] === null ? 'delete' : 'update'
    return change(action, before, after)
  })
}

/**
 * Before: the statement returns new rows (of a DELETE the old ones). The old rows are read by their key after a rollback to a savepoint, in
 * the snapshot of the same transaction, so that they are those that the statement has seen.
 */
async function withOldByKey(
  client: Client,
  statement: string,
  { table, operation }: AnalysedStatement,
): Promise<RowChange[]> {
  const isMerge = operation === 'merge'
  await client.query('savepoint statement')
  const found = await changedRows(client, statement, `returning ${isMerge ? 'merge_action(), ' : ''}*`, table)
  // Keys are compared by operators of PostgreSQL: one of somebody may fit a type better.
  await client.query('rollback to savepoint statement; set local search_path = pg_catalog, pg_temp')
  const width = table.names.length
  // Columns of other tables follow those of the target; of a MERGE they come before.
  const rows = found.map((row) =>
    isMerge
      ? { action: row[0]!.toLowerCase() as RowOperation, values: row.slice(row.length - width) }
      : { action: operation, values: row.slice(0, width) },
  )
  const places = table.key.map((column) => table.names.findIndex(({ name }) => name === column))
  const keyOf = (values: Values) => JSON.stringify(places.map((place) => values[place]))
  const asked = rows.filter(({ action }) => action !== 'delete')
  const before = await rowsByKey(
    client,
    table,
    places,
    asked.map(({ values }) => values),
  )
  const known = new Map(before.map((values) => [keyOf(values), values]))
  return rows.map(({ action, values }) => {
    if (action === 'delete') return change('delete', values, values)
    const old = known.get(keyOf(values))
    if (old !== undefined) return change('update', old, values)
    if (operation === 'insert' || action === 'insert') return change('insert', values, values)
    throw refused(`a trigger of ${table.target} changes the key of a row`, 'A row keeps its key.')
  })
}

async function rowsByKey(
  client: Client,
  { target, names }: OpenTable,
  places: readonly number[],
  rows: readonly Values[],
): Promise<Values[]> {
  if (rows.length === 0) return []
  const columns = places.map((place) => names[place]!)
  const slots = columns.map((_, at) => `k${at}`)
  const on = columns.map(({ name, type }, at) => `t.${quoteName(name)} = k.k${at}::${type}`)
  return measuredRows(
    client,
    {
      with: `before as materialized (
        select t.* from unnest(${slots.map((_, at) => `$${at + 1}::pg_catalog.text[]`).join(', ')}) as k (${slots.join(', ')})
          join ${target} t on ${on.join(' and ')})`,
      from: 'before',
      values: places.map((place) => rows.map((row) => row[place])),
    },
    rows.length,
    target,
  )
}

/**
 * Also what is checked at the end of a transaction is checked, before all is rolled back. PostgreSQL counts rows and bytes before it sends
 * them: values of a gigabyte, or a million rows, would end this process.
 */
async function changedRows(
  client: Client,
  statement: string,
  returning: string,
  { target, maxRows }: OpenTable,
): Promise<Values[]> {
  const rows = await measuredRows(
    client,
    { with: `changed as (\n${statement}\n${returning}\n)`, from: 'changed' },
    maxRows,
    target,
  )
  await client.query('set constraints all immediate')
  return rows
}

/** The rows of `from`, with as many columns as it has; refused before they are sent where they are too many or too large. */
async function measuredRows(
  client: Client,
  { with: tables, from, values = [] }: { with: string; from: string; values?: unknown[] },
  maxRows: number,
  target: string,
): Promise<Values[]> {
  const answer = await client.query({
    text: `with ${tables},
           counted as (select pg_catalog.count(*) as rows, coalesce(pg_catalog.sum(pg_catalog.pg_column_size(c.*)), 0) as bytes
                         from (select * from ${from} limit ${maxRows + 1}) c)
           select counted.rows, counted.bytes, r.* from counted
             left join lateral (select * from ${from} limit ${maxRows}) r on counted.rows <= ${maxRows} and counted.bytes <= ${MAX_IMAGE_LENGTH}`,
    values,
    rowMode: 'array',
    types: AS_TEXT,
    queryMode: 'extended',
  } as never)
  const found = (answer as unknown as { rows: Values[] }).rows
  const [rows, bytes] = found[0]!.slice(0, 2).map(Number) as [number, number]
  if (rows > maxRows)
    throw new StagedoorError('proposal_too_large', {
      table: target,
      reason: `it changes more than ${maxRows} rows`,
    })
  if (bytes > MAX_IMAGE_LENGTH) throw tooLong(bytes, target)
  return rows === 0 ? [] : found.map((row) => row.slice(2))
}

function change(action: RowOperation, before: Values, after: Values): RowChange {
  return {
    action,
    before: action === 'insert' ? null : rowText(before),
    after: action === 'delete' ? null : rowText(after),
  }
}

/** A row as PostgreSQL reads it. */
function rowText(values: Values): string {
  const parts = values.map((value) => (value === null ? '' : `"${value.replace(/["\\]/g, '\\$&')}"`))
  return `(${parts.join(',')})`
}

export function requireImageLength(rows: readonly RowChange[], target: string): void {
  const length = rows.reduce(
    (sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0),
    0,
  )
  if (length > MAX_IMAGE_LENGTH) throw tooLong(length, target)
}

function tooLong(length: number, target: string): StagedoorError {
  const reason = `its rows have ${Math.round(length / 1024 / 1024)} MB of values, and at most 64 MB are taken`
  return new StagedoorError('proposal_too_large', { table: target, reason })
}

const LOCK_TIMEOUT = '55P03'
const STATEMENT_TIMEOUT = '57014'

function explain(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return mapConnectionError(error)
  const { code = '', message } = error
  const because = (reason: string) => new StagedoorError('proposal_blocked', { reason }, { cause: error })
  if (code === LOCK_TIMEOUT) return because('somebody else holds a lock on its rows or its table')
  if (code.startsWith('40')) return because('somebody else changed its rows at the same moment')
  if (code === STATEMENT_TIMEOUT) {
    const reason = `it takes longer than ${STATEMENT_TIMEOUT_MS / 1000} seconds`
    return new StagedoorError('proposal_too_large', { reason }, { cause: error })
  }
  if (code === '42501') return refused(message)
  if (['08', '53', '57', '58', 'XX'].includes(code.slice(0, 2))) return mapConnectionError(error)
  // "Failing row contains (…)" shows data: it stays out.
  return new StagedoorError('proposal_fails', { reason: message, sqlstate: code }, { cause: error })
}
