/** Loads executions from the database: the snapshot of each, and the tail of its log folded onto it. Also their playbooks. */
import type pg from 'pg'
import type { Queryable } from '../../kernel/postgres/connection.ts'
import { type EventType, type ExecutionEvent, TERMINAL_EVENT_TYPES } from '../event.ts'
import type { StartInput } from '../machine/decision.ts'
import { type ExecutionState, FOLD_VERSION, fold, SeedFinder } from '../machine/state.ts'
import type { Playbook } from '../playbook/definition.ts'

interface CheckpointRow extends pg.QueryResultRow {
  readonly execution_id: string
  readonly last_seq: number
  readonly fold_version: number
  readonly state: ExecutionState | null
  readonly ended: boolean
}

/** Everything of a shard that has not ended, or whose end is not projected. Throws SD805 when the shard is another engine's. */
export async function loadShardCheckpoints(
  db: Queryable,
  engine: string,
  shard: number,
): Promise<CheckpointRow[]> {
  const { rows } = await db.query<CheckpointRow>(
    'select execution_id, last_seq, fold_version, state, ended from noetl.fn_executions_load($1, $2::smallint)',
    [engine, shard],
  )
  return rows
}

/** The checkpoints of those executions that have not ended. */
export async function loadCheckpoints(
  db: Queryable,
  executions: readonly string[],
): Promise<CheckpointRow[]> {
  const { rows } = await db.query<CheckpointRow>(
    `select execution_id, last_seq, fold_version, state, ended from noetl.checkpoint
      where execution_id = any ($1) and not ended`,
    [executions],
  )
  return rows
}

/** Whether its log has ended: the checkpoint of an ended execution is deleted with its projection. */
export async function hasEnded(db: Queryable, execution: string): Promise<boolean> {
  const { rows } = await db.query<{ event_type: EventType }>(
    'select event_type from noetl.event where execution_id = $1 order by seq desc limit 1',
    [execution],
  )
  return rows[0] !== undefined && TERMINAL_EVENT_TYPES.includes(rows[0].event_type)
}

/** Those of these commands, each with its execution, that other engines run or have run. */
export async function findRemoteCommands(
  db: Queryable,
  commands: readonly (readonly [execution: string, command: string])[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ command_id: string }>(
    `select command_id from unnest($1::bigint[], $2::text[]) asked (execution_id, command_id)
      where noetl.fn_command_is_dispatched(execution_id, command_id)`,
    [commands.map(([execution]) => execution), commands.map(([, command]) => command)],
  )
  return new Set(rows.map((row) => row.command_id))
}

const EXECUTIONS_PER_READ = 200
const EVENTS_PER_PAGE = 2000

interface LoadedStates {
  /** As of the end of the log. */
  readonly states: Map<string, ExecutionState>
  /** Those whose log cannot be folded: no reason for the others not to go on. */
  readonly broken: Map<string, Error>
}

export async function loadStates(
  db: Queryable,
  checkpoints: readonly CheckpointRow[],
): Promise<LoadedStates> {
  const states = new Map<string, ExecutionState>()
  const broken = new Map<string, Error>()
  for (let from = 0; from < checkpoints.length; from += EXECUTIONS_PER_READ) {
    const some = checkpoints.slice(from, from + EXECUTIONS_PER_READ)
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
    const events = await readTails(db, unread, (id) => states.get(id)?.seq ?? 0)
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
    unread = unread.filter((id) => counts.get(id) === EVENTS_PER_PAGE && !broken.has(id))
  }
}

const EVENT_COLUMNS =
  'e.execution_id, e.event_id, e.seq, e.event_type, e.catalog_id, e.parent_event_id, e.parent_execution_id, e.node_id, ' +
  'e.node_name, e.node_type, e.status, e.context, e.result, e.meta, e.error, e.current_index, e.current_item'

async function readTails(
  db: Queryable,
  executions: readonly string[],
  after: (execution: string) => number,
): Promise<ExecutionEvent[]> {
  const { rows } = await db.query(
    `select ${EVENT_COLUMNS} from unnest($1::bigint[], $2::integer[]) a (execution_id, seq)
      cross join lateral (select * from noetl.event e where e.execution_id = a.execution_id and e.seq > a.seq
                           order by e.seq limit $3) e
      order by e.execution_id, e.seq`,
    [executions, executions.map(after), EVENTS_PER_PAGE],
  )
  return rows.map(toEvent)
}

/** The whole log of one execution, page by page. */
async function* readLog(db: Queryable, execution: string): AsyncGenerator<ExecutionEvent> {
  for (let seq = 0; ; ) {
    const page = await readTails(db, [execution], () => seq)
    yield* page
    if (page.length < EVENTS_PER_PAGE) return
    seq = page.at(-1)!.seq
  }
}

/** A rerun begins with what the old execution knew when it came to the step. */
export async function withSeed(db: Queryable, input: StartInput): Promise<StartInput> {
  const finder = new SeedFinder(input.from_step!)
  for await (const event of readLog(db, input.rerun_of!)) finder.add(event)
  return { ...input, seed: finder.seed }
}

/** Columns that hold nothing are absent, as in an event that was just decided. */
function toEvent(row: Record<string, unknown>): ExecutionEvent {
  for (const name of Object.keys(row)) if (row[name] === null) delete row[name]
  return row as unknown as ExecutionEvent
}

export interface CatalogEntry {
  readonly catalog_id: string
  readonly path: string
  readonly version: number
  readonly playbook: Playbook
}

interface CatalogRow extends pg.QueryResultRow {
  readonly catalog_id: string
  readonly path: string
  readonly version: number
  readonly payload: Playbook
}

const MAX_CATALOG_ENTRIES = 1000

/** The catalogue of playbooks in memory: by version, and the latest of a name. A version never changes, so it is read once. */
export class Catalog {
  private readonly db: Queryable
  private readonly entries = new Map<string, CatalogEntry>()

  constructor(db: Queryable) {
    this.db = db
  }

  find(catalogId: string): CatalogEntry | undefined {
    return this.entries.get(catalogId)
  }

  /** The database has another history: its ids may be given again, for other playbooks. */
  forget(): void {
    this.entries.clear()
  }

  /** Reads those that are not known yet, all in one statement. Those that are asked for are the last to make room. */
  async read(catalogIds: Iterable<string>): Promise<void> {
    const asked = new Set(catalogIds)
    const missing = [...asked].filter((id) => !this.entries.has(id))
    for (const id of asked) this.touch(id)
    if (missing.length === 0) return
    const { rows } = await this.db.query<CatalogRow>(
      'select catalog_id, path, version, payload from noetl.catalog where catalog_id = any ($1)',
      [missing],
    )
    for (const row of rows) this.add(row)
    this.makeRoom(asked)
  }

  /** The newest version of each name as of now; without those that are disabled, or not there. */
  async latest(paths: Iterable<string>): Promise<Map<string, CatalogEntry>> {
    const { rows } = await this.db.query<CatalogRow & { disabled: boolean }>({
      name: 'stagedoor_playbooks_latest',
      text: `select distinct on (path) catalog_id, path, version, payload, disabled_at is not null as disabled
               from noetl.catalog where path = any ($1) order by path, version desc`,
      values: [[...new Set(paths)]],
    })
    const latest = new Map(rows.filter((row) => !row.disabled).map((row) => [row.path, this.add(row)]))
    this.makeRoom()
    return latest
  }

  private add(row: CatalogRow): CatalogEntry {
    const known = this.entries.get(row.catalog_id)
    if (known !== undefined) return known
    const entry = {
      catalog_id: row.catalog_id,
      path: row.path,
      version: row.version,
      playbook: row.payload,
    }
    this.entries.set(row.catalog_id, entry)
    return entry
  }

  private touch(catalogId: string): void {
    const known = this.entries.get(catalogId)
    if (known === undefined) return
    this.entries.delete(catalogId)
    this.entries.set(catalogId, known)
  }

  /** The least recently used goes; an execution in memory has its own reference. */
  private makeRoom(asked: ReadonlySet<string> = new Set()): void {
    for (const id of this.entries.keys()) {
      if (this.entries.size <= MAX_CATALOG_ENTRIES) return
      if (!asked.has(id)) this.entries.delete(id)
    }
  }
}
