/**
 * What changed, as server-sent events: the names of rooms, never what is in them. One query a second for the whole process, and only
 * while somebody follows. Whose events there were, each follower is asked about under their own rights.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { ReadReplica } from '../app/replica.ts'
import type { Pool, Queryable } from '../kernel/postgres/connection.ts'
import { inTransaction } from '../kernel/postgres/transaction.ts'
import { Wake } from '../runtime/wake.ts'
import {
  EVENT_STREAM,
  HEARTBEAT,
  HEARTBEAT_MS,
  limitStreams,
  reconnectHint,
  sendEvents,
  serverSentEvent,
} from './event-stream.ts'
import { routes } from './routes.ts'
import type { ApiContext } from './server.ts'

const POLL_MS = 1_000
const MAX_STREAMS = 20
/** Then the caller connects again, and their token is checked again. */
const MAX_STREAM_MS = 10 * 60_000

/** The rooms whose pages show what events of a domain are about. Every event also changes the room events. */
const ROOMS_OF_DOMAIN: Readonly<Record<string, readonly string[]>> = {
  staging: ['changes', 'inbox', 'uploads', 'records', 'promotions'],
  change: ['changes', 'inbox', 'uploads', 'records'],
  iu: ['units', 'search'],
  piece: ['units', 'search'],
  birth_registry: ['units'],
  tac: ['units'],
  kg: ['units'],
  governance: ['consumers', 'settings'],
  system: ['health', 'consumers', 'settings'],
  health: ['health'],
}

/**
 * Changes that no event tells. PostgreSQL counts the rows written to each table; that a count grew says nothing of whose row it was, so
 * it is told to everybody who may read the table. A session reports its counts about once a second, at the latest ten seconds after it fell idle.
 */
const ROOM_OF_TABLE: readonly (readonly [room: string, table: string])[] = [
  ['uploads', 'iu_core.ingest_upload'],
  ['jobs', 'iu_core.job_queue'],
  ['jobs', 'iu_core.job_running'],
  ['jobs', 'iu_core.job_history'],
  ['jobs', 'iu_core.job_dead_letter'],
  ['jobs', 'iu_core.job_kind'],
  ['jobs', 'iu_core.job_schedule'],
  ['executions', 'noetl.execution'],
  ['playbooks', 'noetl.catalog'],
  ['consumers', 'iu_core.consumer_registry'],
  ['consumers', 'iu_core.event_dispatch_log'],
  ['consumers', 'iu_core.iu_sql_event_route'],
  ['consumers', 'iu_core.iu_sql_event_route_evidence'],
  ['search', 'iu_core.vector_outbox'],
  ['search', 'iu_core.search_pending'],
  ['search', 'iu_core.search_table'],
  ['health', 'iu_core.system_issue'],
  ['inbox', 'iu_core.change_inbox_read'],
  ['inbox', 'iu_core.review_policy'],
  ['inbox', 'iu_core.member_group_member'],
  ['inbox', 'iu_core.ingest_plan_mark'],
  ['settings', 'iu_core.ingest_dataset'],
  ['settings', 'iu_core.webhook_target'],
  ['settings', 'public.workspace_members'],
]

const ALL_ROOMS: readonly string[] = [
  ...new Set(['events', ...Object.values(ROOMS_OF_DOMAIN).flat(), ...ROOM_OF_TABLE.map(([room]) => room)]),
]

export const liveRoutes = ({ pool, replica }: ApiContext) =>
  routes('live', (api) => {
    const watcher = new Watcher({ pool, replica, log: api.fastify.log })
    const streams = limitStreams(MAX_STREAMS, 'streams of changes')
    api.fastify.addHook('preClose', async () => watcher.stop())
    api.get('/live', {
      operationId: 'followChanges',
      summary: 'Which rooms of the console change, as server-sent events',
      description:
        '`event: begun` once, then `event: changed` with {rooms}, at most one a second: the names of what to read again, such as uploads, jobs or events. With a replica `after` comes with them: send it as `stagedoor-after` when you read. The stream ends after ten minutes, and when the server stops, which says `retry`. Connect again with Last-Event-ID, to any server: `begun` says {resumed: true} if nothing was missed or what was missed follows, else read everything again.',
      problems: [429],
      schema: EVENT_STREAM,
      handle: (request, reply) => {
        const leave = streams.enter(request.principal!.subject)
        return sendEvents(reply, (gone) => follow(request, watcher, gone), leave)
      },
    })
  })

async function* follow(request: FastifyRequest, watcher: Watcher, gone: AbortSignal): AsyncGenerator<string> {
  const over = AbortSignal.any([gone, watcher.stopped, AbortSignal.timeout(MAX_STREAM_MS)])
  const wake = new Wake()
  const rooms = new Set<string>()
  let since: string | undefined
  let after: string | undefined
  over.addEventListener('abort', () => wake.now())
  const hidden = await request.transaction((client) => hiddenRooms(client, request.principal!.role))
  const leave = watcher.enter((change) => {
    for (const room of change.rooms) if (!hidden.has(room)) rooms.add(room)
    if (rooms.size === 0 && change.eventsSince === undefined) return
    since ??= change.eventsSince
    after = change.after ?? after
    wake.now()
  })
  try {
    const seen = await watcher.ready()
    const missed = seen && (await missedSince(request, seen, hidden))
    yield serverSentEvent('begun', { resumed: missed !== undefined }, seen?.id)
    for (const room of missed ?? []) rooms.add(room)
    if (rooms.size > 0) after ??= seen?.after
    while (!over.aborted) {
      const { id } = watcher
      if (since !== undefined) {
        const from = since
        since = undefined
        const domains = await request.transaction((client) => visibleDomains(client, from))
        for (const domain of domains) for (const room of ROOMS_OF_DOMAIN[domain] ?? []) rooms.add(room)
        if (domains.length > 0) rooms.add('events')
      }
      if (rooms.size > 0) {
        const changed = [...rooms].sort()
        rooms.clear()
        yield serverSentEvent('changed', { rooms: changed, ...(after !== undefined && { after }) }, id)
      }
      const began = performance.now()
      await wake.wait(HEARTBEAT_MS)
      if (performance.now() - began >= HEARTBEAT_MS) yield HEARTBEAT
    }
    if (watcher.stopped.aborted) yield reconnectHint()
  } finally {
    leave()
  }
}

/** Older ids are not worth a scan of the events: whoever was away for so long reads everything. */
const MAX_MISSED_TRANSACTIONS = 100_000n
const EVENT_ID = /^([0-9A-F]{8})-((\d{1,20}):(\d{1,20}):(?:\d{1,20}(?:,\d{1,20})*)?)$/

/**
 * The rooms that changed since the event that a follower of this or another server saw last; undefined: nobody knows. Events are told
 * exactly. The counts of tables are not in the id, so their rooms are told all.
 */
async function missedSince(
  request: FastifyRequest,
  seen: Seen,
  hidden: ReadonlySet<string>,
): Promise<string[] | undefined> {
  const given = request.headers['last-event-id']
  if (typeof given !== 'string' || given.length > 4_000) return undefined
  const [, history, snapshot, oldest, next] = EVENT_ID.exec(given) ?? []
  const [, nowHistory, , , nowNext] = EVENT_ID.exec(seen.id) ?? []
  if (snapshot === undefined || nowNext === undefined || history !== nowHistory) return undefined
  if (BigInt(next!) < BigInt(oldest!) || BigInt(next!) > BigInt(nowNext)) return undefined
  if (BigInt(nowNext) - BigInt(oldest!) > MAX_MISSED_TRANSACTIONS) return undefined
  if (given === seen.id) return []
  const domains = await request.transaction((client) => visibleDomains(client, snapshot))
  const told = domains.flatMap((domain) => ROOMS_OF_DOMAIN[domain] ?? [])
  const counted = ROOM_OF_TABLE.map(([room]) => room).filter((room) => !hidden.has(room))
  return [...told, ...counted, ...(domains.length > 0 ? ['events'] : [])]
}

/**
 * The rooms whose first table above the caller may not read: of a workspace as a person, or as an agent what agents read. A room without a
 * table is told by events, under the caller's rights.
 */
async function hiddenRooms(db: Queryable, role: string): Promise<ReadonlySet<string>> {
  const isPerson = role === 'authenticated' || role === 'stagedoor_reviewer'
  const mine = isPerson ? 'exists (select from iu_core.fn_my_workspaces_as_person())' : 'true'
  const first = ROOM_OF_TABLE.filter(
    ([room], at) => ROOM_OF_TABLE.findIndex(([other]) => other === room) === at,
  )
  const { rows } = await db.query<{ room: string }>(
    `select r.room from unnest($1::text[], $2::text[]) as r (room, tab)
      where not (has_table_privilege(case when ${mine} then current_user else 'stagedoor_agent' end, to_regclass(r.tab), 'select')
        ${isPerson ? 'and exists (select from iu_core.fn_my_workspaces())' : ''})`,
    [first.map(([room]) => room), first.map(([, table]) => table)],
  )
  return new Set(rows.map(({ room }) => room))
}

/** The domains of events that became visible since the snapshot and that the caller may see. */
async function visibleDomains(db: Queryable, since: string): Promise<string[]> {
  const { rows } = await db.query<{ event_domain: string }>(
    `select distinct event_domain from iu_core.event_outbox
      where tx >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(tx, $1::pg_snapshot)`,
    [since],
  )
  return rows.map(({ event_domain }) => event_domain)
}

interface Change {
  /** Rooms by the counts of their tables. */
  readonly rooms: readonly string[]
  /** There are new events since this snapshot. */
  readonly eventsSince: string | undefined
  /** What a replica must have replayed to show it; undefined without one. */
  readonly after: string | undefined
}

/** Where a follower begins. */
interface Seen {
  readonly id: string
  readonly after: string | undefined
}

interface WatcherDeps {
  readonly pool: Pool
  readonly replica: ReadReplica | undefined
  readonly log: FastifyBaseLogger
}

interface Reading {
  readonly snapshot: string
  readonly has_events: boolean
  readonly written: Readonly<Record<string, string>>
}

/** Looks once a second while somebody follows. */
class Watcher {
  private readonly followers = new Set<(change: Change) => void>()
  private readonly stopping = new AbortController()
  private first: Promise<void> | undefined
  private readonly deps: WatcherDeps
  /** What the last look saw. */
  private seen: Seen | undefined
  /** The timeline of the database: after a failover, ids of events from before mean nothing. */
  private history: string | undefined

  constructor(deps: WatcherDeps) {
    this.deps = deps
    // Every follower listens.
    setMaxListeners(0, this.stopping.signal)
  }

  get stopped(): AbortSignal {
    return this.stopping.signal
  }

  stop(): void {
    this.stopping.abort()
  }

  enter(follower: (change: Change) => void): () => void {
    this.followers.add(follower)
    this.first ??= this.watch()
    return () => this.followers.delete(follower)
  }

  /** The id of an event that is told now. */
  get id(): string | undefined {
    return this.seen?.id
  }

  /** From then on nothing is missed. */
  async ready(): Promise<Seen | undefined> {
    await this.first
    return this.seen
  }

  /** Resolves with the first reading; the loop goes on until nobody follows. */
  private async watch(): Promise<void> {
    const first = await this.read(undefined)
    this.seen = first?.seen
    void this.loop(first)
  }

  private async loop(first: Reading | undefined): Promise<void> {
    let before = first
    let hasMissed = first === undefined
    while (this.followers.size > 0 && !this.stopped.aborted) {
      await sleep(POLL_MS, undefined, { signal: this.stopped }).catch(() => {})
      const now = await this.read(before?.snapshot)
      // With what is told, not before: an id stands for everything that was told until then.
      this.seen = now?.seen
      if (now !== undefined) {
        if (hasMissed || before === undefined || wentBack(before, now)) this.tellEverything()
        else this.tell(before, now)
      }
      hasMissed = now === undefined
      before = now ?? before
    }
    this.first = undefined
  }

  /** After a failover the last commits may be lost: pages show what is not there any more, and the snapshot counts nothing. */
  private tellEverything(): void {
    for (const follower of this.followers)
      follower({ rooms: ALL_ROOMS, eventsSince: undefined, after: this.seen?.after })
  }

  private tell(before: Reading, now: Reading): void {
    const rooms = Object.keys(now.written).filter((room) => now.written[room] !== before.written[room])
    if (rooms.length === 0 && !now.has_events) return
    const change = {
      rooms,
      eventsSince: now.has_events ? before.snapshot : undefined,
      after: this.seen?.after,
    }
    for (const follower of this.followers) follower(change)
  }

  private async read(since: string | undefined): Promise<(Reading & { seen: Seen }) | undefined> {
    if (this.stopped.aborted) return undefined
    const { pool, replica, log } = this.deps
    try {
      const reading = await inTransaction(pool, (client) => readChanges(client, since), {
        role: 'service_role',
        readOnly: true,
      })
      this.history ??= await readTimeline(pool)
      // After the look: what it saw is before this place.
      const after = await replica?.position()
      return { ...reading, seen: { id: `${this.history}-${reading.snapshot}`, after } }
    } catch (error) {
      // The database is away; whoever follows sees that by what they read.
      log.debug({ err: error }, 'changes could not be read')
      // A failover breaks sessions.
      this.history = undefined
      return undefined
    }
  }
}

/** The next transaction id only grows, except where another server goes on without the last commits. */
function wentBack(before: Reading, now: Reading): boolean {
  const nextId = ({ snapshot }: Reading): bigint => BigInt(snapshot.split(':')[1]!)
  return nextId(now) < nextId(before)
}

/** Some managed servers do not tell it: then ids are not compared over a failover. */
async function readTimeline(pool: Pool): Promise<string> {
  const { rows } = await pool
    .query<{ timeline: string }>('select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline')
    .catch(() => ({ rows: [] }))
  return rows[0]?.timeline ?? '00000000'
}

async function readChanges(db: Queryable, since: string | undefined): Promise<Reading> {
  const { rows } = await db.query<Reading>(
    `select pg_current_snapshot()::text as snapshot,
            $1::text is not null and exists (
              select from iu_core.event_outbox
               where tx >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(tx, $1::pg_snapshot)
            ) as has_events,
            (select jsonb_object_agg(room, written) from (
               select r.room, sum(pg_stat_get_tuples_inserted(t.oid) + pg_stat_get_tuples_updated(t.oid)
                                  + pg_stat_get_tuples_deleted(t.oid))::text as written
                 from unnest($2::text[], $3::text[]) as r (room, tab)
                cross join lateral (select to_regclass(r.tab)::oid as oid
                                    union all
                                    select inhrelid from pg_inherits where inhparent = to_regclass(r.tab)) t
                where t.oid is not null
                group by r.room) counts) as written`,
    [since ?? null, ROOM_OF_TABLE.map(([room]) => room), ROOM_OF_TABLE.map(([, table]) => table)],
  )
  return rows[0]!
}
