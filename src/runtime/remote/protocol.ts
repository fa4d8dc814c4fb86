/**
 * What gateways and remote workers say to each other: core NATS, JSON, request and reply. All subjects are below `sd.<cell>.gw.`; a request
 * goes to one gateway, never to a queue group, because a group goes on sending to a member that is cut off. Everything that comes in is
 * checked here: what does not have its shape is dropped and counted.
 *
 *   gw.alive              a gateway says every second that it is there
 *   gw.<gateway>.attach   a worker begins a session
 *   gw.<gateway>.beat     every two seconds: what the worker runs; the answer says what it must stop
 *   gw.<gateway>.pull     long poll for calls; the next pull confirms the calls of the last answer
 *   gw.<gateway>.ended    how calls ended; answered after the commit, and repeated until then
 *   gw.<gateway>.adopt    after another gateway is gone: what the worker still runs under its leases
 *   gw.<gateway>.enqueue  a handler enqueues a job
 */
import type { JsonObject } from '../../kernel/json.ts'
import { storableText } from '../../kernel/text.ts'
import type { CallRef, RemoteCall, RemoteOutcome } from './calls.ts'

/** Raised when a message changes its meaning. A gateway understands this one and the one before. */
export const PROTOCOL = 1
const OLDEST_PROTOCOL = 1

export const BEAT_MS = 2000
/** A session that is silent for so long is over. */
export const SESSION_MS = 6000
export const PULL_MS = 5000
/** A call that was sent and not confirmed by then is sent to another worker. */
export const OFFER_MS = 2500
/** An answer that is later than this is confirmed before anything of it begins. */
export const LATE_MS = 1000
/** A worker leaves a gateway that does not answer for so long. */
export const GATEWAY_SILENT_MS = 3000

export const VERBS = ['attach', 'beat', 'pull', 'ended', 'adopt', 'enqueue'] as const
export type Verb = (typeof VERBS)[number]

export interface Alive {
  readonly gateway: string
  readonly version: string
  /** Which database it works on: a short digest. */
  readonly database: string
  /** When it started, in milliseconds since 1970. */
  readonly since: number
  /** Free slots of its workers. */
  readonly room: number
  /** Slots of its workers. */
  readonly attached: number
  /** It takes no new workers. */
  readonly draining: boolean
}

export interface OfferedHandler {
  readonly what: RemoteCall['what']
  readonly name: string
  /** How many jobs one call takes. */
  readonly batch: number
}

export interface Requests {
  readonly attach: {
    /** One for each start of a worker's process. */
    readonly worker: string
    readonly name: string
    readonly host: string
    readonly pid: number
    readonly version: string
    readonly executor: string
    readonly concurrency: number
    readonly handlers: readonly OfferedHandler[]
    /** It runs calls of another gateway, and adopts them next. */
    readonly adopts: boolean
    /** It stops, and takes nothing new. */
    readonly leaving?: boolean
  }
  readonly beat: {
    readonly session: string
    readonly held: readonly string[]
    /** Ended, and not answered yet. */
    readonly ending: readonly string[]
    readonly leaving: boolean
    /** Another gateway has these now. */
    readonly moved: readonly string[]
    /** The session ends. */
    readonly gone: boolean
  }
  readonly pull: { readonly session: string; readonly seq: number }
  readonly ended: { readonly session: string; readonly ends: readonly CallEnd[] }
  readonly adopt: { readonly session: string; readonly held: readonly HeldCall[] }
  readonly enqueue: {
    readonly session: string
    readonly call: string
    /** The job that the new one follows from. */
    readonly from: string
    readonly job: JsonObject
  }
}

export interface CallEnd {
  readonly call: string
  readonly outcome: RemoteOutcome
}

export type HeldCall = Pick<RemoteCall, 'call' | 'what' | 'name'> & {
  readonly lease: string
  readonly refs: readonly CallRef[]
  readonly alone: boolean
}

/** `void`: it does not count any more, so its end is not reported. */
export interface Drop {
  readonly call: string
  readonly why: 'cancelled' | 'timed_out' | 'stopping' | 'void'
  readonly message: string
}

export interface Answers {
  readonly attach: { readonly session: string }
  readonly beat: { readonly drop: readonly Drop[]; readonly leave: boolean }
  readonly pull: {
    readonly seq: number
    readonly calls: readonly RemoteCall[]
    readonly drop: readonly Drop[]
    /** How long the gateway had nothing to answer. */
    readonly waitedMs: number
    readonly leave: boolean
  }
  readonly ended: { readonly written: readonly string[]; readonly void: readonly string[] }
  readonly adopt: {
    readonly yours: readonly string[]
    readonly void: readonly string[]
    /** The leases of those that are `yours`, by call: the next gateway adopts them from these. */
    readonly leases?: Readonly<Record<string, string>>
  }
  readonly enqueue: { readonly jobId: string }
}

export interface Problem {
  /**
   * `session`: unknown, attach again. `version`: it speaks another version. `draining`, `shared`: it takes no workers. `pause`: come back
   * after `waitMs`. `refused`: the request cannot be done. `later`: not just now.
   */
  readonly problem: 'session' | 'version' | 'draining' | 'shared' | 'pause' | 'refused' | 'later'
  readonly detail: string
  readonly waitMs?: number
}

/** The part of the largest message that calls or outcomes may fill; the rest are names and numbers. */
export const MESSAGE_SHARE = 0.8

/** A message as it travels. */
export function pack<T extends object>(body: T): T & { readonly v: number } {
  return { v: PROTOCOL, ...body }
}

/** `garbage`: it does not have its shape. `newer`: it is of a version that this program does not know. */
export type Read<T> = T | 'garbage' | 'newer'

export function readRequest<V extends Verb>(verb: V, body: unknown): Read<Requests[V]> {
  return read(REQUESTS[verb] as Check<Requests[V]>, body)
}

export function readAnswer<V extends Verb>(verb: V, body: unknown): Read<Answers[V] | Problem> {
  const problem = read(PROBLEM, body)
  return typeof problem === 'object' ? problem : read(ANSWERS[verb] as Check<Answers[V]>, body)
}

export function readAlive(body: unknown): Read<Alive> {
  return read(ALIVE, body)
}

/** Without control characters and without what PostgreSQL cannot store. */
export function plainText(text: string): string {
  return storableText(text).replaceAll(/\p{Cc}/gu, '\ufffd')
}

export function isProblem(answer: object): answer is Problem {
  return 'problem' in answer
}

function read<T>(check: Check<T>, body: unknown): Read<T> {
  const v = (body as { v?: unknown } | null | undefined)?.v
  if (typeof v !== 'number' || !Number.isInteger(v) || v < OLDEST_PROTOCOL) return 'garbage'
  if (v > PROTOCOL) return 'newer'
  return check(body) ? body : 'garbage'
}

type Check<T> = (value: unknown) => value is T

const check = <T>(test: (value: unknown) => boolean) => test as Check<T>
const text = (max: number) =>
  check<string>((value) => typeof value === 'string' && value.length > 0 && value.length <= max)
/** For names of things: what reaches the database is storable, and what people see is one line. */
const plain = (max: number) =>
  check<string>((value) => text(max)(value) && value === plainText(value as string))
const integer = (min: number, max: number) =>
  check<number>((value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max)
const flag = check<boolean>((value) => typeof value === 'boolean')
const object = check<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)
const list = <T>(of: Check<T>, max: number) =>
  check<T[]>((value) => Array.isArray(value) && value.length <= max && value.every(of))
const oneOf = <T extends string>(...values: readonly T[]) => check<T>((value) => values.includes(value as T))
const maybe = <T>(of: Check<T>) => check<T | undefined>((value) => value === undefined || of(value))
/** More members than these do no harm: a newer version of the same protocol may say more. */
const members = <T>(of: { readonly [K in keyof Required<T>]: Check<T[K]> }) =>
  check<T>(
    (value) =>
      object(value) &&
      Object.entries<Check<unknown>>(of).every(([name, test]) => test((value as JsonObject)[name])),
  )

const MAX_CALLS = 10_000
const id = text(200)
const name = plain(200)
const ref = members<CallRef>({ id: plain(200), epoch: integer(0, 2 ** 31) })
const what = oneOf('job', 'item')

const outcome = check<RemoteOutcome>((value) => {
  if (!object(value)) return false
  const { status, error, retryable } = value as Record<string, unknown>
  if (status === 'failed') return typeof error === 'string' && typeof retryable === 'boolean'
  return status === 'completed' || status === 'released'
})

const call = members<RemoteCall>({
  call: id,
  what,
  name,
  body: object,
  timeoutMs: maybe(check<number>((value) => typeof value === 'number' && value >= 0)),
  lease: maybe(text(64)),
  refs: maybe(list(ref, MAX_CALLS)),
  alone: maybe(flag),
})

const drop = members<Drop>({
  call: id,
  why: oneOf('cancelled', 'timed_out', 'stopping', 'void'),
  message: text(2000),
})

const ALIVE = members<Alive>({
  gateway: text(64),
  version: text(64),
  database: text(64),
  since: integer(0, Number.MAX_SAFE_INTEGER),
  room: integer(0, 2 ** 31),
  attached: integer(0, 2 ** 31),
  draining: flag,
})

const REQUESTS: { readonly [V in Verb]: Check<Requests[V]> } = {
  attach: members<Requests['attach']>({
    worker: plain(64),
    // Shown to people only, so the gateway makes them plain.
    name: text(200),
    host: text(255),
    pid: integer(1, 2 ** 31 - 1),
    version: text(64),
    executor: plain(64),
    concurrency: integer(1, 1000),
    handlers: list(members<OfferedHandler>({ what, name, batch: integer(1, MAX_CALLS) }), 1000),
    adopts: flag,
    leaving: maybe(flag),
  }),
  beat: members<Requests['beat']>({
    session: id,
    held: list(id, MAX_CALLS),
    ending: list(id, MAX_CALLS),
    leaving: flag,
    moved: list(id, MAX_CALLS),
    gone: flag,
  }),
  pull: members<Requests['pull']>({ session: id, seq: integer(1, Number.MAX_SAFE_INTEGER) }),
  ended: members<Requests['ended']>({
    session: id,
    ends: list(members<CallEnd>({ call: id, outcome }), MAX_CALLS),
  }),
  adopt: members<Requests['adopt']>({
    session: id,
    held: list(
      members<HeldCall>({
        call: plain(200),
        what,
        name,
        lease: plain(64),
        refs: list(ref, MAX_CALLS),
        alone: flag,
      }),
      MAX_CALLS,
    ),
  }),
  enqueue: members<Requests['enqueue']>({ session: id, call: id, from: plain(64), job: object }),
}

const ANSWERS: { readonly [V in Verb]: Check<Answers[V]> } = {
  attach: members<Answers['attach']>({ session: id }),
  beat: members<Answers['beat']>({ drop: list(drop, MAX_CALLS), leave: flag }),
  pull: members<Answers['pull']>({
    seq: integer(1, Number.MAX_SAFE_INTEGER),
    calls: list(call, MAX_CALLS),
    drop: list(drop, MAX_CALLS),
    waitedMs: integer(0, 2 ** 31),
    leave: flag,
  }),
  ended: members<Answers['ended']>({ written: list(id, MAX_CALLS), void: list(id, MAX_CALLS) }),
  adopt: members<Answers['adopt']>({
    yours: list(id, MAX_CALLS),
    void: list(id, MAX_CALLS),
    leases: maybe(
      check<Record<string, string>>((value) => object(value) && Object.values(value).every(text(64))),
    ),
  }),
  enqueue: members<Answers['enqueue']>({ jobId: text(64) }),
}

const PROBLEM = members<Problem>({
  problem: oneOf('session', 'version', 'draining', 'shared', 'pause', 'refused', 'later'),
  detail: text(2000),
  waitMs: maybe(integer(0, 3_600_000)),
})
