/** How an execution ended, from the log: the projection comes a moment later. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { EventType, ExecutionEvent, ResultValue } from './event.ts'

export interface ExecutionOutcome {
  readonly execution_id: string
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly error: string | null
  /** What it gave back, if it has completed. */
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
export async function findOutcome(db: Queryable, execution: string): Promise<ExecutionOutcome | undefined> {
  const { rows } = await db.query<LastEvent & Record<string, unknown>>(
    `select execution_id, event_type, error, result from noetl.event where execution_id = $1 order by seq desc limit 1`,
    [execution],
  )
  if (rows[0] !== undefined) return rows[0].event_type in STATUS_OF ? outcomeOf(rows[0]) : undefined
  const { rows: told } = await db.query(
    `select from noetl.inbox where execution_id = $1 and kind = 'start'
      union all (select from noetl.event where execution_id = $1 limit 1)`,
    [execution],
  )
  if (told.length === 0) throw new StagedoorError('execution_unknown', { execution })
  return undefined
}

/** Who drives executions in this process. */
interface Driving {
  whenEnded(execution: string, told: (outcome: ExecutionOutcome) => void): () => void
}

const FIRST_LOOK_MS = 20
const LAST_LOOK_MS = 500

/** An engine of this process says so at once; that of another is found by looking, less and less often. */
export async function waitForEnd(
  db: Queryable,
  execution: string,
  engines: Iterable<Driving>,
  signal: AbortSignal | undefined,
): Promise<ExecutionOutcome> {
  const stop = new AbortController()
  const forget: (() => void)[] = []
  const told = new Promise<ExecutionOutcome>((resolve) => {
    for (const engine of engines) forget.push(engine.whenEnded(execution, resolve))
  })
  const ending = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  try {
    // Where one may be told, the first look would mostly come too early.
    return await Promise.race([told, looked(db, execution, ending, forget.length > 0)])
  } finally {
    stop.abort()
    for (const one of forget) one()
  }
}

async function looked(
  db: Queryable,
  execution: string,
  signal: AbortSignal,
  later: boolean,
): Promise<ExecutionOutcome> {
  if (later) await delay(FIRST_LOOK_MS, undefined, { signal })
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 1.5, LAST_LOOK_MS)) {
    signal.throwIfAborted()
    const outcome = await findOutcome(db, execution)
    if (outcome !== undefined) return outcome
    await delay(lookMs, undefined, { signal })
  }
}
