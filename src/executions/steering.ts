/** What is told to executions from outside, in the caller's transaction. */
import type { Queryable } from '../db/connection.ts'
import type { JsonObject } from './playbook/definition.ts'

export interface StartOptions {
  readonly workspace_id?: string
  /** Default: the newest. */
  readonly version?: number
  /** The same key again: the same execution. */
  readonly idempotency_key?: string
}

/** Returns its id. */
export async function startExecution(
  db: Queryable,
  playbook: string,
  args: JsonObject = {},
  { workspace_id, version, idempotency_key }: StartOptions = {},
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select noetl.fn_execution_start($1, $2, $3, $4, $5)::text as id',
    [playbook, JSON.stringify(args), workspace_id ?? null, version ?? null, idempotency_key ?? null],
  )
  return rows[0]!.id
}

export interface Begun {
  readonly execution_id: string
  /** False: the key belongs to one that was started before. */
  readonly is_new: boolean
}

/** The same, and whether it was there already: an id that was made before the question is that of another start. */
export async function beginExecution(
  db: Queryable,
  playbook: string,
  args: JsonObject = {},
  options: StartOptions = {},
): Promise<Begun> {
  const { rows } = await db.query<{ least: string }>(
    'select noetl.fn_snowflake_floor(clock_timestamp())::text as least',
  )
  const execution_id = await startExecution(db, playbook, args, options)
  return { execution_id, is_new: BigInt(execution_id) >= BigInt(rows[0]!.least) }
}

/** All or none, in one statement; the ids in the order of the arguments. */
export async function startExecutions(
  db: Queryable,
  playbook: string,
  args: readonly JsonObject[],
  { workspace_id, version }: Omit<StartOptions, 'idempotency_key'> = {},
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select noetl.fn_execution_start($1, a.args, $3, $4)::text as id
       from jsonb_array_elements($2::jsonb) with ordinality a (args, n) order by a.n`,
    [playbook, JSON.stringify(args), workspace_id ?? null, version ?? null],
  )
  return rows.map((row) => row.id)
}

/** Returns the id of the new one. Without a version it takes that of the old one. */
export async function rerunExecution(
  db: Queryable,
  execution: string,
  fromStep: string,
  { version }: { version?: number } = {},
): Promise<string> {
  const { rows } = await db.query<{ id: string }>('select noetl.fn_execution_rerun($1, $2, $3)::text as id', [
    execution,
    fromStep,
    version ?? null,
  ])
  return rows[0]!.id
}

export async function cancelExecution(db: Queryable, execution: string, reason?: string): Promise<void> {
  await db.query('select noetl.fn_execution_cancel($1, $2)', [execution, reason ?? null])
}

export async function pauseExecution(db: Queryable, execution: string): Promise<void> {
  await db.query('select noetl.fn_execution_pause($1)', [execution])
}

export async function resumeExecution(db: Queryable, execution: string): Promise<void> {
  await db.query('select noetl.fn_execution_resume($1)', [execution])
}
