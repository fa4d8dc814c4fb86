/**
 * Which work this process leads: work that only one of all processes does, such as reaping, ending waits, firing schedules and maintenance.
 * The database decides who leads (iu_core.fn_leader_keep); the poll of wakeups.ts asks it. Each kind of work has a name of its own, because
 * not every process can do all of it.
 *
 * A leader that dies loses its session and with it its leadership; one that is frozen loses it when its lease passes, and finds out by
 * its own clocks before it does anything more. Whatever is led is also settled in the database row by row, so that two leaders in the
 * moment of a change do no harm.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Instant, LeaseClock } from './lease.ts'

export const LEADER_LEASE_MS = 6000

/** Leadership of one name, as one part of the process sees it. */
export interface Lead {
  /** Asked right before the work: a process that was frozen past its lease is not the leader any more. */
  readonly mine: boolean
}

export class Leadership {
  readonly process = `${hostname()} ${process.pid}`
  private readonly users = new Map<string, Set<() => void>>()
  private session: string = randomUUID()
  private held: ReadonlySet<string> = new Set()
  private clock: LeaseClock | undefined

  /** A new one for each session: its advisory lock shows the database whether the session lives. */
  get holder(): string {
    return this.session
  }

  get names(): string[] {
    return [...this.users.keys()]
  }

  get size(): number {
    return this.clock?.hasPassed === false ? this.held.size : 0
  }

  leads(name: string): boolean {
    return this.held.has(name) && this.clock?.hasPassed === false
  }

  /** Calls `onGain` whenever this process becomes the leader. The returned function ends that, and returns whether no part of this process wants the name any more. */
  want(name: string, onGain: () => void): () => boolean {
    const users = this.users.get(name) ?? new Set()
    this.users.set(name, users.add(onGain))
    if (this.leads(name)) queueMicrotask(onGain)
    return () => {
      users.delete(onGain)
      if (users.size > 0) return false
      this.users.delete(name)
      return true
    }
  }

  /** The answer of the database to a statement that was sent at `sentAt`. */
  keep(names: readonly string[], sentAt: Instant): void {
    const before = this.held
    const lasted = this.clock?.hasPassed === false
    this.held = new Set(names)
    this.clock = new LeaseClock(LEADER_LEASE_MS, sentAt)
    for (const name of names)
      if (!lasted || !before.has(name)) for (const gained of this.users.get(name) ?? []) gained()
  }

  /** The session is gone, or the database does not answer. */
  lose(): void {
    this.held = new Set()
    this.session = randomUUID()
  }
}
