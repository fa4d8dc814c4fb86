/** Controls executions, in the caller's transaction: start, rerun, cancel, pause, resume. Also waits for their end. */
import { setTimeout as delay } from 'node:timers/promises'
import { StagedoorError } from '../kernel/errors.ts'
import type { JsonObject } from '../kernel/json.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { isConnectionError, mapDatabaseError } from '../kernel/postgres/errors.ts'
import { BatchWriter } from '../runtime/batch-writer.ts'
import type { EventType, ExecutionEvent, ResultValue } from './event.ts'

export interface StartOptions {
  readonly workspaceId?: string | undefined
  /** Default: the newest. */
  readonly version?: number | undefined
  /** The same key again: the same execution. */
  readonly idempotencyKey?: string | undefined
}

/** Returns its id. */
export async function startExecution(
  db: Queryable,
  playbook: string,
  args: JsonObject = {},
  { workspaceId, version, idempotencyKey }: StartOptions = {},
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select noetl.fn_execution_start($1, $2, $3, $4, $5)::text as id',
    [playbook, JSON.stringify(args), workspaceId ?? null, version ?? null, idempotencyKey ?? null],
  )
  return rows[0]!.id
}

export interface StartedExecution {
  readonly execution_id: string
  /** False: the key belongs to one that was started before. */
  readonly is_new: boolean
}

/** The same, and whether the execution was there already: an id from before the call is that of an earlier start. */
export async function startOrFindExecution(
  db: Queryable,
  playbook: string,
  args: JsonObject = {},
  options: StartOptions = {},
): Promise<StartedExecution> {
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
  { workspaceId, version }: Omit<StartOptions, 'idempotencyKey'> = {},
): Promise<string[]> {
  return startBatch(
    db,
    args.map((one) => ({ playbook, args: one, options: { workspaceId, version } })),
  )
}

/** Returns the id of the new one. Without a version it takes that of the old one. */
export async function rerunExecution(
  db: Queryable,
  execution: string,
  fromStep: string,
  { version }: { version?: number | undefined } = {},
): Promise<string> {
  const { rows } = await db.query<{ id: string }>('select noetl.fn_execution_rerun($1, $2, $3)::text as id', [
    execution,
    fromStep,
    version ?? null,
  ])
  return rows[0]!.id
}

/** Projects an execution again from its log; a row without a log is deleted. */
export async function rebuildExecution(db: Queryable, execution: string): Promise<void> {
  await db.query('select noetl.rebuild_execution_projection($1)', [execution])
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

interface StartRequest {
  readonly playbook: string
  readonly args: JsonObject
  readonly options: StartOptions
}

interface PendingStart extends StartRequest {
  resolve(id: string): void
  reject(error: unknown): void
}

const MAX_STARTS_PER_STATEMENT = 500

/** Executions that a program starts at the same time go to the database together. */
export class StartBatcher {
  private readonly pool: Pool
  private readonly writer: BatchWriter<PendingStart>

  constructor(pool: Pool) {
    this.pool = pool
    this.writer = new BatchWriter({
      maxBatch: MAX_STARTS_PER_STATEMENT,
      write: (starts) => this.write(starts),
      onFailure: (error, starts) => {
        if (!isConnectionError(error)) return 'divide'
        // Whether they were started is not known. Only the caller can start them again, under an idempotency key.
        for (const { reject } of starts) reject(mapDatabaseError(error))
        return []
      },
      onRefused: ({ reject }, error) => reject(mapDatabaseError(error)),
    })
  }

  /** Resolves with the id when the start is committed. */
  add(start: StartRequest): Promise<string> {
    return new Promise((resolve, reject) => this.writer.add({ ...start, resolve, reject }))
  }

  private async write(starts: readonly PendingStart[]): Promise<void> {
    const { playbook, args, options } = starts[0]!
    const ids =
      starts.length === 1
        ? [await startExecution(this.pool, playbook, args, options)]
        : await startBatch(this.pool, starts)
    starts.forEach(({ resolve }, place) => {
      resolve(ids[place]!)
    })
  }
}

async function startBatch(db: Queryable, starts: readonly StartRequest[]): Promise<string[]> {
  const asked = starts.map(({ playbook, args, options: { version, workspaceId, idempotencyKey } }) => ({
    playbook,
    args,
    version,
    workspace_id: workspaceId,
    idempotency_key: idempotencyKey,
  }))
  const { rows } = await db.query<{ id: string }>(
    'select id::text from noetl.fn_execution_start_batch($1) as id',
    [JSON.stringify(asked)],
  )
  return rows.map((row) => row.id)
}

/** How an execution ended, from the log: the projection comes a moment later. */
export interface ExecutionOutcome {
  readonly execution_id: string
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly error: string | null
  /** Its output, if it has completed. */
  readonly result: ResultValue | null
}

const STATUS_OF: Partial<Record<EventType, ExecutionOutcome['status']>> = {
  'playbook.completed': 'COMPLETED',
  'playbook.failed': 'FAILED',
  'workflow.completed': 'COMPLETED',
  'workflow.failed': 'FAILED',
  'execution.cancelled': 'CANCELLED',
}

type LastEvent = Pick<ExecutionEvent, 'execution_id' | 'event_type'> & {
  readonly error?: string | null
  readonly result?: ExecutionEvent['result'] | null
}

export function outcomeOf({ execution_id, event_type, error, result }: LastEvent): ExecutionOutcome {
  const status = STATUS_OF[event_type]!
  return {
    execution_id,
    status,
    error: error ?? null,
    result: status === 'COMPLETED' ? resultOf(result) : null,
  }
}

function resultOf(result: LastEvent['result']): ResultValue {
  if (typeof result?.ref === 'string') return { ref: result.ref, bytes: (result.bytes as number) ?? 0 }
  return { value: result?.value ?? null }
}

/** Undefined: it has not ended. Throws execution_unknown. */
async function findOutcome(db: Queryable, execution: string): Promise<ExecutionOutcome | undefined> {
  const { rows } = await db.query<LastEvent & Record<string, unknown>>(
    `select execution_id, event_type, error, result from noetl.event where execution_id = $1 order by seq desc limit 1`,
    [execution],
  )
  if (rows[0] !== undefined) return rows[0].event_type in STATUS_OF ? outcomeOf(rows[0]) : undefined
  const { rows: known } = await db.query(
    `select from noetl.inbox where execution_id = $1 and kind = 'start'
      union all (select from noetl.event where execution_id = $1 limit 1)`,
    [execution],
  )
  if (known.length === 0) throw new StagedoorError('execution_unknown', { execution })
  return undefined
}

/** An engine of this process. */
interface EndNotifier {
  whenEnded(execution: string, callback: (outcome: ExecutionOutcome) => void): () => void
}

const MIN_POLL_MS = 20
const MAX_POLL_MS = 500

/** An engine of this process notifies at once; ends elsewhere are found by polling, less and less often. */
export async function waitForEnd(
  db: Queryable,
  execution: string,
  engines: Iterable<EndNotifier>,
  signal: AbortSignal | undefined,
): Promise<ExecutionOutcome> {
  const stop = new AbortController()
  const forget: (() => void)[] = []
  const notified = new Promise<ExecutionOutcome>((resolve) => {
    for (const engine of engines) forget.push(engine.whenEnded(execution, resolve))
  })
  const ending = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  try {
    // Where an engine may notify, the first poll would mostly come too early.
    return await Promise.race([notified, pollOutcome(db, execution, ending, forget.length > 0)])
  } finally {
    stop.abort()
    for (const one of forget) one()
  }
}

async function pollOutcome(
  db: Queryable,
  execution: string,
  signal: AbortSignal,
  later: boolean,
): Promise<ExecutionOutcome> {
  if (later) await delay(MIN_POLL_MS, undefined, { signal })
  for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, MAX_POLL_MS)) {
    signal.throwIfAborted()
    const outcome = await findOutcome(db, execution)
    if (outcome !== undefined) return outcome
    await delay(pollMs, undefined, { signal })
  }
}
