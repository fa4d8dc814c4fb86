/** One flush: what follows from many inputs of many executions, written in one statement, all or nothing. */
import type { KeptConnection } from '../../db/kept-connection.ts'
import type { ExecutionEvent, ResultValue } from '../event.ts'
import type { Json, JsonObject } from '../playbook/definition.ts'
import { eventRow } from './event-row.ts'

/** What follows from one input of one execution. */
export interface Append {
  readonly execution_id: string
  readonly shard_id: number
  readonly epoch: string
  readonly events: readonly ExecutionEvent[]
  readonly commands?: readonly CommandRow[]
  readonly commands_gone?: readonly { readonly execution_id: string; readonly loop_id: string | null }[]
  readonly waits?: readonly WaitRow[]
  readonly waits_gone?: readonly { readonly execution_id: string; readonly node_id: string }[]
  readonly messages?: readonly Message[]
  readonly collect?: readonly Collect[]
  readonly outbox?: readonly JsonObject[]
  /** Rows of the inbox that are consumed by it. */
  readonly inbox?: readonly string[]
  readonly checkpoint?: Checkpoint
  readonly ended?: boolean
  /** It is in the database: what it issued may begin. */
  durable(): void
  /** It is not, and never will be. */
  refused(error: Error): void
}

export interface CommandRow {
  readonly command_id: string
  readonly execution_id: string
  readonly shard_id: number
  readonly catalog_id: string
  /** Of an item. */
  readonly loop_id?: string
  readonly node_id: string
  readonly node_name: string
  readonly item_index?: number
  readonly item?: Json
  /** Handlers that its tools call. */
  readonly needs?: readonly string[]
  /** Of a step: what its tools see. */
  readonly scope?: HandedScope
  /** Not one of the machine's: it counts only while the command is not out. */
  readonly handed_over?: true
  readonly attempt: number
  /** ISO 8601; absent: at once. */
  readonly process_after?: string
}

/** Large ones by reference; `cause` as in the context of tools, `parent_ref` what the result is made from. */
export type HandedScope = ResultValue & { readonly cause: string | null; readonly parent_ref?: string }

export interface WaitRow {
  readonly execution_id: string
  readonly shard_id: number
  readonly node_id: string
  readonly kind: 'timer' | 'event' | 'approval'
  readonly wake_at?: string
  readonly event_domain?: string
  readonly event_type?: string
  readonly subject?: string
  readonly match?: JsonObject
  readonly since_node?: string
  readonly staging_record_id?: string
}

export interface Message {
  readonly execution_id: string
  readonly kind: string
  readonly body: JsonObject
}

export interface Collect {
  readonly execution_id: string
  readonly loop_id: string
  readonly ref_id: string
  readonly node_name: string
}

/** `state` as JSON text; null: the log is folded from its start. */
export interface Checkpoint {
  readonly last_event_id: string
  readonly last_seq: number
  readonly fold_version: number
  readonly state: string | null
}

const FLUSH = 'select noetl.fn_execution_flush($1, $2, $3, $4)'

/** Throws SD805 when one of the shards is another engine's. */
export async function flush(
  connection: KeptConnection,
  engine: string,
  appends: readonly Append[],
  batch: string,
): Promise<void> {
  const shards = new Map<number, string>()
  for (const { shard_id, epoch } of appends) shards.set(shard_id, epoch)
  await connection.query(FLUSH, [engine, [...shards.keys()], [...shards.values()], batch], 'stagedoor_flush')
}

/** Put together as text: states of executions are text already, and most parts are empty most of the time. */
export function batchOf(appends: readonly Append[]): string {
  const parts: string[] = []
  const part = <Row>(name: string, rowsOf: (append: Append) => readonly Row[] | undefined): void => {
    const rows: Row[] = []
    for (const append of appends) {
      const own = rowsOf(append)
      if (own !== undefined) for (const row of own) rows.push(row)
    }
    if (rows.length > 0) parts.push(`"${name}":${JSON.stringify(rows)}`)
  }
  const still = withoutDropped(appends)
  part('events', (append) => append.events.map(eventRow))
  part('commands', (append) => still.commands.get(append) ?? append.commands)
  part('commands_gone', (append) => append.commands_gone)
  part('waits', (append) => still.waits.get(append) ?? append.waits)
  part('waits_gone', (append) => append.waits_gone)
  part('messages', (append) => append.messages)
  part('collect', (append) => append.collect)
  part('outbox', (append) => append.outbox)
  part('inbox', (append) => append.inbox)
  const pauses = pausesOf(appends)
  if (pauses.length > 0) parts.push(`"paused":${JSON.stringify(pauses)}`)
  part('ended', (append) => (append.ended ? [append.execution_id] : undefined))
  const checkpoints = checkpointsOf(appends)
  if (checkpoints.length > 0) parts.push(`"checkpoints":[${checkpoints.join()}]`)
  return `{${parts.join()}}`
}

/** The database drops before it adds: what a later append drops must not be added by an earlier one of the same flush. */
function withoutDropped(appends: readonly Append[]) {
  const commands = new Map<Append, readonly CommandRow[]>()
  const waits = new Map<Append, readonly WaitRow[]>()
  const earlier = new Map<string, Append[]>()
  for (const append of appends) {
    const before = earlier.get(append.execution_id)
    const { commands_gone = [], waits_gone = [] } = append
    if (before !== undefined && commands_gone.length + waits_gone.length > 0) {
      const loops = new Set(commands_gone.map(({ loop_id }) => loop_id))
      const nodes = new Set(waits_gone.map(({ node_id }) => node_id))
      for (const one of before) {
        const rows = commands.get(one) ?? one.commands ?? []
        commands.set(one, loops.has(null) ? [] : rows.filter(({ loop_id = '' }) => !loops.has(loop_id)))
        const held = waits.get(one) ?? one.waits ?? []
        waits.set(
          one,
          held.filter(({ node_id }) => !nodes.has(node_id)),
        )
      }
    }
    if (append.commands === undefined && append.waits === undefined) continue
    if (before === undefined) earlier.set(append.execution_id, [append])
    else before.push(append)
  }
  return { commands, waits }
}

/** The latest of each execution: what is claimed follows from it. */
function pausesOf(appends: readonly Append[]): { execution_id: string; paused: boolean }[] {
  const latest = new Map<string, boolean>()
  for (const { execution_id, events } of appends) {
    for (const { event_type } of events) {
      if (event_type === 'execution.paused') latest.set(execution_id, true)
      else if (event_type === 'execution.resumed') latest.set(execution_id, false)
    }
  }
  return [...latest].map(([execution_id, paused]) => ({ execution_id, paused }))
}

/** The latest of each execution; one with a state is not given up for one without. */
function checkpointsOf(appends: readonly Append[]): string[] {
  const latest = new Map<string, Append>()
  for (const append of appends) if (append.checkpoint) latest.set(append.execution_id, append)
  return [...latest.values()].map(({ execution_id, shard_id, epoch, checkpoint }) => {
    const { last_event_id, last_seq, fold_version, state } = checkpoint!
    return (
      `{"execution_id":"${execution_id}","shard_id":${shard_id},"epoch":${epoch},"last_event_id":"${last_event_id}",` +
      `"last_seq":${last_seq},"fold_version":${fold_version},"state":${state ?? 'null'}}`
    )
  })
}

/** Which of these events are in the log: those of a flush whose answer was lost. */
export async function eventsInLog(
  connection: KeptConnection,
  events: readonly ExecutionEvent[],
): Promise<Set<string>> {
  const rows = await connection.query<{ event_id: string }>(
    `select e.event_id from unnest($1::bigint[], $2::bigint[]) asked (execution_id, event_id)
       join noetl.event e using (execution_id, event_id)`,
    [events.map((event) => event.execution_id), events.map((event) => event.event_id)],
  )
  return new Set(rows.map((row) => row.event_id))
}
