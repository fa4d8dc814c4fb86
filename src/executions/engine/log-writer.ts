/**
 * Writes the logs of all executions that this process owns: one flush in flight, everything that arrives meanwhile goes with the
 * next. Nothing counts before it is durable. After a lost answer the ids of the events tell whether the flush counted; an event
 * that the database refuses is narrowed down to its execution, and the others go on.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { DedicatedConnection } from '../../kernel/postgres/connection.ts'
import { isConnectionError, isTransient } from '../../kernel/postgres/errors.ts'
import { BatchWriter, type NextAttempt } from '../../runtime/batch-writer.ts'
import type { ExecutionEvent, ResultValue } from '../event.ts'
import { isFenced } from './shards.ts'

/** The database does not take what this input led to, whatever is tried. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent'
}
/** It came after a refused one, or follows from a state that is not the log's: its execution is read again first. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}
/** Its shard belongs to another engine. */
export class ShardLost extends Error {
  override readonly name = 'ShardLost'
}

interface LogWriterDeps {
  /** The flush's own session. */
  readonly connection: DedicatedConnection
  engine(): string
  /** The epoch under which this engine owns the shard. */
  epochOf(shard: number): string | undefined
  /** The database says that a shard is not ours: finds out which are. */
  onFenced(): Promise<void>
  /** The database lacks what was durable before: nothing in memory counts any more, and every shard is lost. */
  onLogMoved(error: Error): void
  readonly log: Logger
  /** These appends are durable. Called before each append's own `onDurable`. */
  onFlush(appends: readonly Append[], ms: number): void
}

/** Never so much that a flush is not over in some milliseconds; one append may be larger. */
const MAX_EVENTS_PER_FLUSH = 1000
const MAX_VERIFIED = 100_000

export class LogWriter {
  private readonly deps: LogWriterDeps
  private readonly writer: BatchWriter<Append>
  private problem: string | undefined
  private session: object | undefined
  /** Executions whose log ended, on this session, where this engine takes it to end. */
  private readonly verified = new Set<string>()

  constructor(deps: LogWriterDeps) {
    this.deps = deps
    this.writer = new BatchWriter({
      maxBatch: MAX_EVENTS_PER_FLUSH,
      sizeOf: ({ events }) => events.length,
      stillCounting: (appends) => this.withoutLostShards(appends),
      write: (appends) => this.flush(appends),
      onFailure: (error, appends, pause) => this.afterFailure(error, appends, pause),
      onRefused: (append, error) => this.refuse(append, error),
    })
  }

  /** Why nothing can be written just now. */
  get trouble(): string | undefined {
    return this.problem
  }

  append(append: Append): void {
    this.writer.add(append)
  }

  /** Resolves when everything that was appended is durable or was refused. */
  drain(): Promise<void> {
    return this.writer.drain()
  }

  /** A shard was lost: appends that wait for the database must find out at once whether they still count. */
  retryNow(): void {
    this.writer.retryNow()
  }

  /** Appends of a shard that was lost never count again, not even when the shard comes back: its epoch is another one then. */
  private withoutLostShards(appends: readonly Append[]): readonly Append[] {
    const isOurs = (append: Append): boolean => this.deps.epochOf(append.shard_id) === append.epoch
    if (appends.every(isOurs)) return appends
    for (const append of appends) if (!isOurs(append)) append.onRefused(new ShardLost('its shard was lost'))
    return appends.filter(isOurs)
  }

  private async flush(appends: readonly Append[]): Promise<void> {
    await this.verifyOnNewSession()
    const batch = serialize(appends, this.verified)
    const began = performance.now()
    await flush(this.deps.connection, this.deps.engine(), appends, batch)
    this.problem = undefined
    for (const { execution_id, events, ended } of appends) {
      if (ended) this.verified.delete(execution_id)
      else if (events.length > 0) this.verified.add(execution_id)
    }
    this.confirm(appends, performance.now() - began)
  }

  /** Only what was written on another session can be lost: the server is another one then, or was restored. */
  private async verifyOnNewSession(): Promise<void> {
    const session = await this.deps.connection.open()
    if (session === this.session && this.verified.size < MAX_VERIFIED) return
    this.session = session
    this.verified.clear()
  }

  private async afterFailure(
    error: unknown,
    appends: readonly Append[],
    pause: () => Promise<void>,
  ): Promise<NextAttempt<Append>> {
    if (error instanceof NotSerializable) return 'divide'
    if (isFenced(error)) {
      const ours = await this.deps.onFenced().then(
        () => this.withoutLostShards(appends),
        () => appends,
      )
      // The shard may be ours again by the time we ask: no reason to ask without a pause.
      if (ours.length === appends.length) await pause()
      return ours
    }
    if (isLogMoved(error)) {
      this.deps.onLogMoved(error as Error)
      return this.withoutLostShards(appends)
    }
    if (isTransient(error)) {
      this.problem = (error as Error).message
      this.deps.log.warn({ err: error }, 'flush failed; will be retried')
      await pause()
      return isConnectionError(error) ? this.withoutFlushed(appends).catch(() => appends) : appends
    }
    // A flush whose answer was lost, sent again, is refused because its events are there already.
    const rest = await this.withoutFlushed(appends).catch(() => appends)
    return rest.length === appends.length ? 'divide' : rest
  }

  /** Appends that are in the log although their flush got no answer are durable. A flush counts as a whole. */
  private async withoutFlushed(appends: readonly Append[]): Promise<readonly Append[]> {
    const lasts = appends.flatMap(({ events }) => events.slice(-1))
    if (lasts.length === 0) return appends
    const found = await eventsInLog(this.deps.connection, lasts)
    if (found.size === 0) return appends
    this.deps.log.info({ events: found.size }, 'flush had succeeded although its response was lost')
    const isThere = (append: Append): boolean =>
      append.events.length === 0 || found.has(append.events.at(-1)!.event_id)
    this.confirm(appends.filter(isThere), 0)
    return appends.filter((append) => !isThere(append))
  }

  private confirm(appends: readonly Append[], ms: number): void {
    this.deps.onFlush(appends, ms)
    for (const append of appends) {
      try {
        append.onDurable()
      } catch (error) {
        // A mistake of ours in one execution: the execution is read again, and the others go on.
        this.deps.log.error(
          { err: error, execution_id: append.execution_id },
          'an execution could not continue after its event was written',
        )
        this.refuseWithFollowers(append, new Superseded('what follows from it threw', { cause: error }))
      }
    }
  }

  private refuse(append: Append, error: Error): void {
    const cause = error instanceof NotSerializable ? error.cause : error
    this.deps.log.error({ err: cause, execution_id: append.execution_id }, 'event rejected')
    this.refuseWithFollowers(
      append,
      isStale(error)
        ? new Superseded('its state is behind the log', { cause })
        : new PoisonEvent(error.message, { cause }),
    )
  }

  /** What its execution appended after it follows from a state that is not the log's. */
  private refuseWithFollowers(append: Append, error: Error): void {
    const followers = this.writer.remove(({ execution_id }) => execution_id === append.execution_id)
    append.onRefused(error)
    for (const follower of followers) follower.onRefused(new Superseded('an earlier input was refused'))
  }
}

/** A value that is no JSON: the fault of its execution, as anything that the database refuses. */
class NotSerializable extends Error {
  override readonly name = 'NotSerializable'
}

function serialize(appends: readonly Append[], verified: ReadonlySet<string>): string {
  try {
    return serializeBatch(appends, verified)
  } catch (error) {
    throw new NotSerializable((error as Error).message, { cause: error })
  }
}

/** What came before it is not in the log, although it was durable. */
function isLogMoved(error: unknown): boolean {
  return (error as pg.DatabaseError).code === 'SD814'
}

/** Its place in the log is taken, or its command is there already: the state that it was decided on is wrong, not the event. */
function isStale(error: Error): boolean {
  const { code, constraint = '' } = error as pg.DatabaseError
  return code === '23505' && (/_execution_id_seq_key\d*$/.test(constraint) || constraint === 'command_pkey')
}

/** What one input of one execution led to. Many of them are one flush: one statement, all or nothing. */
export interface Append {
  readonly execution_id: string
  readonly shard_id: number
  readonly epoch: string
  readonly events: readonly ExecutionEvent[]
  readonly commands?: readonly CommandRow[]
  readonly commands_cancelled?: readonly { readonly execution_id: string; readonly loop_id: string | null }[]
  readonly waits?: readonly WaitRow[]
  readonly waits_ended?: readonly { readonly execution_id: string; readonly node_id: string }[]
  readonly messages?: readonly Message[]
  readonly collect?: readonly CollectionRow[]
  readonly outbox?: readonly JsonObject[]
  /** Rows of the inbox that are consumed by it. */
  readonly inbox?: readonly string[]
  readonly checkpoint?: Checkpoint
  readonly ended?: boolean
  /** It is in the database: the commands that it issued may begin. */
  onDurable(): void
  /** It is not in the database, and never will be. */
  onRefused(error: Error): void
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
  readonly scope?: RemoteScope
  /** A command of a step, for another engine: it counts only while no engine has the command. */
  readonly handed_over?: true
  readonly attempt: number
  /** ISO 8601; absent: at once. */
  readonly process_after?: string
}

/** Large ones by reference; `cause` as in the context of tools, `parent_ref` what the result is made from. */
export type RemoteScope = ResultValue & { readonly cause: string | null; readonly parent_ref?: string }

interface WaitRow {
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

interface CollectionRow {
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
async function flush(
  connection: DedicatedConnection,
  engine: string,
  appends: readonly Append[],
  batch: string,
): Promise<void> {
  const shards = new Map<number, string>()
  for (const { shard_id, epoch } of appends) shards.set(shard_id, epoch)
  await connection.query(FLUSH, [engine, [...shards.keys()], [...shards.values()], batch], 'stagedoor_flush')
}

/** Put together as text: states of executions are text already, and most parts are empty most of the time. */
function serializeBatch(appends: readonly Append[], verified: ReadonlySet<string>): string {
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
  const follows = followedEvents(appends, verified)
  if (follows.length > 0) parts.push(`"follows":${JSON.stringify(follows)}`)
  part('events', (append) => append.events.map(eventRow))
  part('commands', (append) => still.commands.get(append) ?? append.commands)
  part('commands_cancelled', (append) => append.commands_cancelled)
  part('waits', (append) => still.waits.get(append) ?? append.waits)
  part('waits_ended', (append) => append.waits_ended)
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

/** The event after which each execution goes on, of those whose log is not verified: execution and seq. */
function followedEvents(appends: readonly Append[], verified: ReadonlySet<string>): [string, number][] {
  const follows = new Map<string, number>()
  for (const { execution_id, events } of appends) {
    const [first] = events
    if (first !== undefined && !verified.has(execution_id) && !follows.has(execution_id))
      follows.set(execution_id, first.seq - 1)
  }
  return [...follows].filter(([, seq]) => seq > 0)
}

/** The database drops before it adds: what a later append drops must not be added by an earlier one of the same flush. */
function withoutDropped(appends: readonly Append[]) {
  const commands = new Map<Append, readonly CommandRow[]>()
  const waits = new Map<Append, readonly WaitRow[]>()
  const earlier = new Map<string, Append[]>()
  for (const append of appends) {
    const before = earlier.get(append.execution_id)
    const { commands_cancelled = [], waits_ended = [] } = append
    if (before !== undefined && commands_cancelled.length + waits_ended.length > 0) {
      const loops = new Set(commands_cancelled.map(({ loop_id }) => loop_id))
      const nodes = new Set(waits_ended.map(({ node_id }) => node_id))
      for (const one of before) {
        const rows = commands.get(one) ?? one.commands ?? []
        commands.set(one, loops.has(null) ? [] : rows.filter(({ loop_id = '' }) => !loops.has(loop_id)))
        const waiting = waits.get(one) ?? one.waits ?? []
        waits.set(
          one,
          waiting.filter(({ node_id }) => !nodes.has(node_id)),
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
async function eventsInLog(
  connection: DedicatedConnection,
  events: readonly ExecutionEvent[],
): Promise<Set<string>> {
  const rows = await connection.query<{ event_id: string }>(
    `select e.event_id from unnest($1::bigint[], $2::bigint[]) asked (execution_id, event_id)
       join noetl.event e using (execution_id, event_id)`,
    [events.map((event) => event.execution_id), events.map((event) => event.event_id)],
  )
  return new Set(rows.map((row) => row.event_id))
}

/** An event as noetl.fn_execution_flush takes it: its columns in order. Names for each would cost up to 40 % more. */
export function eventRow(event: ExecutionEvent): Json[] {
  const row: Json[] = [
    event.execution_id,
    event.event_id,
    event.seq,
    event.event_type,
    event.catalog_id,
    event.parent_event_id ?? null,
    event.node_id ?? null,
    event.node_name ?? null,
    event.node_type ?? null,
    event.status ?? null,
    event.meta ?? null,
    event.result ?? null,
    event.context ?? null,
    event.error ?? null,
    event.current_index ?? null,
    event.current_item ?? null,
    event.parent_execution_id ?? null,
  ]
  // What is left out at the end is null.
  while (row.at(-1) === null) row.pop()
  return row
}
