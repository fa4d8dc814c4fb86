/** What the model is made of: costs measured on one machine in one run (`bench model --measure`). */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'

/** CPU of one statement: `base` + `row` × rows, in microseconds. */
export interface StatementCost {
  readonly base_us: number
  readonly row_us: number
}

/** By how many jobs one message carries. */
export interface MessageCost {
  readonly jobs: number
  readonly server_us: number
  readonly node_us: number
}

export interface NotifyCost {
  readonly listeners: number
  readonly commits_per_s: number
  readonly postgres_us: number
}

export interface ClaimCost {
  readonly claimers: number
  readonly jobs: number
  readonly postgres_us: number
  readonly wal_bytes: number
}

export interface ColdCost {
  readonly idle_ms: number
  readonly factor: number
}

export interface ContentionCost extends StatementCost {
  readonly others: number
}

export interface Parameters {
  readonly measured_at: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly postgres: {
    readonly enqueue: StatementCost
    readonly claim: StatementCost
    /** A claim that finds nothing. */
    readonly empty_claim_us: number
    /** A claim of one job that a notification named, and one of a job that another worker has got. */
    readonly claim_by_id: { readonly hit_us: number; readonly miss_us: number }
    readonly begin: StatementCost
    readonly complete: StatementCost
    /** Of a session from its start until its first claim is answered, beyond the claim. */
    readonly session_us: number
    /** What other sessions that claim by scan at the same time, so many on average, add to a claim. From few to many. */
    readonly contention: readonly ContentionCost[]
    /** A statement of a session that has been idle for this long, as all were, costs so many times as much. */
    readonly cold: readonly ColdCost[]
    /** The same right behind a statement of another session. */
    readonly cold_behind: readonly ColdCost[]
    /** Of a vacuum of the queue, for each job that has gone through it. */
    readonly vacuum_us: number
    /** CPU of all processes of the server for each microsecond of its sessions: the WAL writer, the checkpointer and others. */
    readonly background_factor: number
    /** From the end of the CPU of a statement until its commit is on the disk. */
    readonly commit_ms: number
    /** As often one of these as the other; the last is the longest that was seen. One that takes long leaves workers without jobs for a moment. */
    readonly commit_times_ms: readonly number[]
    /** Added by each megabyte of WAL that the commit has to write. */
    readonly flush_ms_per_mb: number
    /** Added to a commit by NOTIFY, and by each session that listens. */
    readonly notify_us: number
    readonly listener_us: number
    readonly wal: { readonly job_bytes: number; readonly statement_bytes: number }
    /** One process that has nothing to do: a job worker and an engine. */
    readonly idle: {
      readonly commits_per_s: number
      readonly cpu_percent: number
      readonly connections: number
    }
  }
  readonly node: {
    /** One statement: to send it, to read the answer, and what the worker does around it. */
    readonly statement_us: number
    /** One job in a statement, and its handler call. */
    readonly job_us: number
    /** The same where the handler waits so long: its timer, and what a process does when it is woken for ten of them. */
    readonly call_us: number
    readonly wait_ms: number
    /** What it does after it was idle for this long costs so many times as much. */
    readonly cold: readonly ColdCost[]
    /** How much later than asked for a timer fires. */
    readonly timer_late_ms: number
  }
  /** A statement that does nothing, there and back, without the CPU of either end. */
  readonly round_trip_ms: number
  /** The same after both ends were idle: the system has to wake them. As often one of these as the other. */
  readonly idle_round_trip_ms: readonly number[]
  readonly nats?: {
    /** Publish to subscriber, one way. */
    readonly hop_ms: number
    /** After both ends were idle, as often one of these as the other. */
    readonly idle_hop_ms: readonly number[]
    readonly request: readonly MessageCost[]
    readonly wake_up: { readonly server_us: number; readonly node_us: number }
    /** CPU of each process for a message with calls and one with their ends, and for each of the calls; without statements. */
    readonly relay: Readonly<Record<'gateway' | 'worker' | 'server', StatementCost>>
    /** The same for one job whose messages find both ends idle and wake them. */
    readonly relay_alone_us: Readonly<Record<'gateway' | 'worker' | 'server', number>>
  }
  /** As measured: the tables of SCALE.md 2.1 and 2.2. */
  readonly tables: { readonly claims: readonly ClaimCost[]; readonly notify: readonly NotifyCost[] }
}

export const PARAMETERS_FILE = fileURLToPath(new URL('../../model-parameters.json', import.meta.url))

export function readParameters(file: string = PARAMETERS_FILE): Parameters {
  return JSON.parse(readFileSync(file, 'utf8')) as Parameters
}

export function writeParameters(parameters: Parameters, file: string = PARAMETERS_FILE): void {
  writeFileSync(file, `${JSON.stringify(parameters, null, 2)}\n`)
}

/** `base + row × rows` through the points, each counting by its relative error: the small statements matter as much as the large. */
export function fitLine(points: readonly { readonly rows: number; readonly us: number }[]): StatementCost {
  let sw = 0
  let sx = 0
  let sy = 0
  let sxx = 0
  let sxy = 0
  for (const { rows, us } of points) {
    const weight = 1 / us ** 2
    sw += weight
    sx += weight * rows
    sy += weight * us
    sxx += weight * rows ** 2
    sxy += weight * rows * us
  }
  const determinant = sw * sxx - sx ** 2
  if (points.length < 2 || determinant === 0) throw new Error('a line needs two points')
  const row_us = Math.max(0, (sw * sxy - sx * sy) / determinant)
  return { base_us: Math.max(0, (sy - row_us * sx) / sw), row_us }
}

/** Between measured points linearly by the logarithm of the idle time; beyond them as the last one. */
export function coldFactor(cold: readonly ColdCost[], idleMs: number): number {
  const [first] = cold
  if (first === undefined || idleMs <= first.idle_ms) return first?.factor ?? 1
  for (let n = 1; n < cold.length; n++) {
    const [low, high] = [cold[n - 1]!, cold[n]!]
    if (idleMs > high.idle_ms) continue
    const position =
      Math.log(idleMs / Math.max(low.idle_ms, 0.5)) / Math.log(high.idle_ms / Math.max(low.idle_ms, 0.5))
    return low.factor + (high.factor - low.factor) * Math.min(1, Math.max(0, position))
  }
  return cold.at(-1)!.factor
}

/** Between measured points linearly, below the first from nothing, beyond the last in proportion. */
export function contentionUs(
  contention: Parameters['postgres']['contention'],
  others: number,
  rows: number,
): number {
  let low = { others: 0, us: 0 }
  for (const { others: at, base_us, row_us } of contention) {
    const high = { others: at, us: base_us + row_us * rows }
    if (others <= at) return low.us + ((high.us - low.us) * (others - low.others)) / (at - low.others)
    low = high
  }
  return low.others === 0 ? 0 : (low.us * others) / low.others
}

/** `{ a: [{ b: 1 }] }` as `{ 'a.0.b': 1 }`: figures are flat. */
export function flatten(value: object, prefix = ''): Record<string, number> {
  const flat: Record<string, number> = {}
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === 'number') flat[prefix + name] = part
    else Object.assign(flat, flatten(part as object, `${prefix}${name}.`))
  }
  return flat
}

export function unflatten<T>(flat: Readonly<Record<string, number>>): T {
  const root: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(flat)) {
    const names = path.split('.')
    let place: Record<string, unknown> = root
    names.forEach((name, n) => {
      const next = names[n + 1]
      if (next === undefined) {
        place[name] = value
        return
      }
      place[name] ??= /^\d+$/.test(next) ? [] : {}
      place = place[name] as Record<string, unknown>
    })
  }
  return root as T
}
