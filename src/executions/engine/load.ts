/** Executions from the database into memory: the snapshot of each, and the tail of its log folded onto it. */
import type pg from 'pg'
import type { Queryable } from '../../db/connection.ts'
import { type EventType, type ExecutionEvent, TERMINAL } from '../event.ts'
import type { StartInput } from '../machine/decision.ts'
import { fold } from '../machine/fold.ts'
import { SeedFinder } from '../machine/seed.ts'
import { type ExecutionState, FOLD_VERSION } from '../machine/state.ts'

export interface Checkpointed extends pg.QueryResultRow {
  readonly execution_id: string
  readonly last_seq: number
  readonly fold_version: number
  readonly state: ExecutionState | null
  readonly ended: boolean
}

/** Everything of a shard that has not ended, or whose end is not projected. Throws SD805 when the shard is another engine's. */
export async function checkpointsOfShard(
  db: Queryable,
  engine: string,
  shard: number,
): Promise<Checkpointed[]> {
  const { rows } = await db.query<Checkpointed>(
    'select execution_id, last_seq, fold_version, state, ended from noetl.fn_executions_load($1, $2::smallint)',
    [engine, shard],
  )
  return rows
}

/** Those of these that have not ended. */
export async function checkpointsOf(db: Queryable, executions: readonly string[]): Promise<Checkpointed[]> {
  const { rows } = await db.query<Checkpointed>(
    `select execution_id, last_seq, fold_version, state, ended from noetl.checkpoint
      where execution_id = any ($1) and not ended`,
    [executions],
  )
  return rows
}

/** As its log says: the checkpoint of one that has ended goes with its projection. */
export async function hasEnded(db: Queryable, execution: string): Promise<boolean> {
  const { rows } = await db.query<{ event_type: EventType }>(
    'select event_type from noetl.event where execution_id = $1 order by seq desc limit 1',
    [execution],
  )
  return rows[0] !== undefined && TERMINAL.includes(rows[0].event_type)
}

/** Those of these commands, each with its execution, that were handed over. */
export async function commandsOut(
  db: Queryable,
  commands: readonly (readonly [execution: string, command: string])[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ command_id: string }>(
    `select command_id from unnest($1::bigint[], $2::text[]) asked (execution_id, command_id)
      where noetl.fn_command_is_out(execution_id, command_id)`,
    [commands.map(([execution]) => execution), commands.map(([, command]) => command)],
  )
  return new Set(rows.map((row) => row.command_id))
}

const EXECUTIONS_AT_ONCE = 200
const EVENTS_A_PAGE = 2000

export interface Loaded {
  /** As of the end of the log. */
  readonly states: Map<string, ExecutionState>
  /** Those whose log cannot be folded: no reason for the others not to go on. */
  readonly broken: Map<string, Error>
}

export async function statesOf(db: Queryable, checkpoints: readonly Checkpointed[]): Promise<Loaded> {
  const states = new Map<string, ExecutionState>()
  const broken = new Map<string, Error>()
  for (let from = 0; from < checkpoints.length; from += EXECUTIONS_AT_ONCE) {
    const some = checkpoints.slice(from, from + EXECUTIONS_AT_ONCE)
    for (const { execution_id, state, fold_version } of some)
      if (state !== null && fold_version === FOLD_VERSION) states.set(execution_id, state)
    await foldTails(
      db,
      some.map((checkpoint) => checkpoint.execution_id),
      states,
      broken,
    )
  }
  for (const id of broken.keys()) states.delete(id)
  return { states, broken }
}

async function foldTails(
  db: Queryable,
  executions: readonly string[],
  states: Map<string, ExecutionState>,
  broken: Map<string, Error>,
): Promise<void> {
  for (let unread = executions; unread.length > 0; ) {
    const events = await tails(db, unread, (id) => states.get(id)?.seq ?? 0)
    const counts = new Map<string, number>()
    for (const event of events) {
      const id = event.execution_id
      counts.set(id, (counts.get(id) ?? 0) + 1)
      if (broken.has(id)) continue
      try {
        states.set(id, fold(states.get(id), event))
      } catch (error) {
        broken.set(id, error as Error)
      }
    }
    unread = unread.filter((id) => counts.get(id) === EVENTS_A_PAGE && !broken.has(id))
  }
}

const COLUMNS =
  'e.execution_id, e.event_id, e.seq, e.event_type, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.node_id, ' +
  'e.node_name, e.node_type, e.status, e.context, e.result, e.meta, e.error, e.current_index, e.current_item'

async function tails(
  db: Queryable,
  executions: readonly string[],
  after: (execution: string) => number,
): Promise<ExecutionEvent[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from unnest($1::bigint[], $2::integer[]) a (execution_id, seq)
      cross join lateral (select * from noetl.event e where e.execution_id = a.execution_id and e.seq > a.seq
                           order by e.seq limit $3) e
      order by e.execution_id, e.seq`,
    [executions, executions.map(after), EVENTS_A_PAGE],
  )
  return rows.map(asEvent)
}

/** The whole log of one execution, page by page. */
async function* logOf(db: Queryable, execution: string): AsyncGenerator<ExecutionEvent> {
  for (let seq = 0; ; ) {
    const page = await tails(db, [execution], () => seq)
    yield* page
    if (page.length < EVENTS_A_PAGE) return
    seq = page.at(-1)!.seq
  }
}

/** A rerun begins with what the old execution knew when it came to the step. */
export async function seeded(db: Queryable, input: StartInput): Promise<StartInput> {
  const finder = new SeedFinder(input.from_step!)
  for await (const event of logOf(db, input.rerun_of!)) finder.add(event)
  return { ...input, seed: finder.seed }
}

/** Columns that hold nothing are absent, as in an event that was just decided. */
function asEvent(row: Record<string, unknown>): ExecutionEvent {
  for (const name of Object.keys(row)) if (row[name] === null) delete row[name]
  return row as unknown as ExecutionEvent
}
