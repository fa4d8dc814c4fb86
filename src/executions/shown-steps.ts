/** The steps of an execution as people see them: an entry each, in pages. */
import type { Queryable } from '../db/connection.ts'
import type { JsonObject } from './playbook/definition.ts'
import type { ExecutionRecord, LoopProgress } from './shown-executions.ts'

export interface ExecutionStep {
  /** One entry of the step: its name and how often it was entered. */
  readonly node_id: string
  readonly step: string
  /** issued, retrying, running, waiting; completed, failed, complete, partial, timed_out. */
  readonly status: string
  readonly attempt: number | null
  readonly loop: LoopProgress | null
  readonly wait: StepWait | null
  readonly entered_at: Date
  readonly ended_at: Date | null
  readonly error: string | null
  readonly result: JsonObject | null
}

export interface StepWait {
  readonly kind: 'timer' | 'event' | 'approval'
  /** When it ends by itself. */
  readonly wake_at: Date | null
  readonly event: string | null
  readonly subject: string | null
  readonly staging_record_id: string | null
}

export interface StepPage {
  readonly steps: ExecutionStep[]
  /** `after` of the next page; null: there is none. */
  readonly next: number | null
}

export interface StepFilter {
  /** The `next` of the page before. */
  readonly after?: number
  readonly limit?: number
}

interface StepRow extends Omit<ExecutionStep, 'loop' | 'wait'> {
  readonly loop_id: string | null
  readonly waits_for: WaitMeta | null
}

/** As step.enter has it. */
export interface WaitMeta {
  readonly wait: StepWait['kind']
  readonly until?: string
  readonly event?: string
  readonly subject?: string
  readonly record?: string
}

/** In the order in which they were entered. */
export async function executionSteps(
  db: Queryable,
  { execution_id, state }: Pick<ExecutionRecord, 'execution_id' | 'state'>,
  { after = 0, limit = 100 }: StepFilter = {},
): Promise<StepPage> {
  const { rows: entered } = await db.query<Entered>(ENTERED, [execution_id, after, limit + 1])
  const page = entered.slice(0, limit)
  const found = await entriesOf(db, execution_id, page)
  const steps = page.map(({ node_id, entered_at }) => {
    const { loop_id, waits_for, ...row } = found.get(node_id)!
    const step = { ...row, entered_at }
    return {
      ...step,
      loop: loopOf(state.loop?.[row.step], loop_id, step),
      wait: waits_for && waitOf(waits_for),
    }
  })
  return { steps, next: entered.length > limit ? page.at(-1)!.seq : null }
}

interface Entered {
  readonly node_id: string
  readonly seq: number
  readonly entered_at: Date
}

/** What enters a step follows from an event of another: so a page is found from its place in the log on, without the rest. */
const ENTERED = `
  select e.node_id, e.seq, e.created_at as entered_at from noetl.v_execution_entry e
   where e.execution_id = $1 and e.seq > $2
     and not exists (select from noetl.event p where p.execution_id = e.execution_id and p.event_id = e.parent_event_id
                                                 and p.node_id = e.node_id)
   order by e.seq limit $3`

type EntryRow = Omit<StepRow, 'entered_at'>

/** Most steps end soon after they were entered; only for the others the log is read to its end. */
const NEAR = 1000
const END = 2_147_483_647

async function entriesOf(
  db: Queryable,
  execution: string,
  page: readonly Entered[],
): Promise<Map<string, EntryRow>> {
  if (page.length === 0) return new Map()
  const from = page[0]!.seq
  const nodes = page.map(({ node_id }) => node_id)
  const found = await latestOf(db, execution, nodes, from, page.at(-1)!.seq + NEAR)
  const open = nodes.filter((node_id) => !isSettled(found.get(node_id)!))
  const late = open.length === 0 ? [] : await latestOf(db, execution, open, from, END)
  return new Map([...found, ...late])
}

/** A loop whose results are collected has an exit behind its end. */
function isSettled({ ended_at, loop_id, result }: EntryRow): boolean {
  return ended_at !== null && (loop_id === null || result?.ref === undefined)
}

async function latestOf(
  db: Queryable,
  execution: string,
  nodes: readonly string[],
  from: number,
  to: number,
): Promise<Map<string, EntryRow>> {
  const { rows } = await db.query<EntryRow>(
    `select distinct on (node_id) node_id, node_name as step, status, attempt, loop_id, waits_for, ended_at, error, result
       from noetl.v_execution_entry
      where execution_id = $1 and node_id = any ($2) and seq between $3 and $4
      order by node_id, seq desc`,
    [execution, nodes, from, to],
  )
  return new Map(rows.map((row) => [row.node_id, row]))
}

/** The projection counts the latest loop of a step; of an earlier one its end says the counts. */
function loopOf(
  latest: LoopProgress | undefined,
  loop_id: string | null,
  row: Omit<StepRow, 'loop_id' | 'waits_for'>,
): LoopProgress | null {
  if (loop_id !== null) return latest?.loop_id === loop_id ? latest : endedLoop(loop_id, row.result)
  // Its results were collected: the last event is then its exit, which names no loop.
  return latest !== undefined && ['complete', 'partial', 'failed'].includes(row.status) ? latest : null
}

function endedLoop(loop_id: string, result: JsonObject | null): LoopProgress | null {
  const counts = result?.context as { total: number; completed: number; failed: number } | undefined
  if (counts === undefined) return null
  const { total, completed, failed } = counts
  return { loop_id, mode: 'sequential', total, done: completed, failed, completed: true }
}

export function waitOf(meta: WaitMeta): StepWait {
  const { wait: kind, until, event = null, subject = null, record = null } = meta
  return {
    kind,
    wake_at: until === undefined ? null : new Date(until),
    event,
    subject,
    staging_record_id: record,
  }
}

/** What the step gave that ended last under this name; undefined: none has ended. Read from the end of the log. */
export async function stepResult(
  db: Queryable,
  execution: string,
  step: string,
): Promise<JsonObject | null | undefined> {
  const { rows } = await db.query<{ result: JsonObject | null }>(
    `select result from noetl.v_execution_entry
      where execution_id = $1 and node_name = $2
        and ended_at is not null
      order by seq desc limit 1`,
    [execution, step],
  )
  return rows[0]?.result
}
