/**
 * Claims that wait for jobs, of executors over HTTP: no worker of this process listens for them. Claims for the same executor and kinds
 * form a line. A wake-up lets the first of the line look, and the next one only if that found jobs: a job costs one claim, however many
 * wait for it. A claim that nobody wakes looks to keep its lease, and for cancelled jobs.
 */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { Wake } from '../runtime/wake.ts'
import type { Wakeups } from '../runtime/wakeups.ts'

/** What a worker waits for. */
export interface WaitTerms {
  readonly executor: string
  readonly kinds: readonly string[]
  readonly leaseMs: number
}

/** A claim in its line. */
export interface WaitingClaim {
  /** Until it is to look again, `maxMs` have passed, or the signal is aborted. */
  wait(maxMs: number, signal: AbortSignal): Promise<void>
  looked(found: boolean): void
  leave(): void
}

/** While wake-ups do not work each claim looks for itself. */
const POLL_MS = 250
/** Jobs are due that the last look did not get: their kind has a limit, or they wait for a worker without other jobs. */
const BLOCKED_MS = 500
/** Of a worker that has jobs, which may be cancelled. As often as a direct worker asks. */
const HOLDING_MS = 2000
const MAX_LOOK_MS = 10_000

/** Enqueues notify for this worker from now on. It claims once more afterwards: a job enqueued just before sent no notification. */
export async function beginWait(db: Queryable, worker: string): Promise<WaitTerms> {
  const { rows } = await db.query<{ executor: string; kinds: string[]; lease_ms: number }>(
    'select executor, kinds, lease_ms from iu_core.fn_job_worker_wait($1)',
    [worker],
  )
  const { executor, kinds, lease_ms } = rows[0]!
  return { executor, kinds, leaseMs: lease_ms }
}

export async function endWait(db: Queryable, worker: string): Promise<void> {
  await db.query('select iu_core.fn_job_worker_set_idle($1, false)', [worker])
}

export class WaitingClaims {
  private readonly wakeups: Wakeups | undefined
  private readonly lines = new Map<string, Line>()
  private readonly askedExecutors = new Set<string>()
  /** Of each worker, how many of its claims wait. The database knows only that it waits. */
  private readonly byWorker = new Map<string, number>()

  constructor(wakeups: Wakeups | undefined) {
    this.wakeups = wakeups
    wakeups?.on('jobs', (key) => {
      const [kind = ''] = key.split(' ', 1)
      for (const line of this.lines.values()) if (kind === '' || line.kinds.has(kind)) line.wake()
    })
    wakeups?.onChange(() => {
      for (const line of this.lines.values()) line.wakeAll()
    })
  }

  /** A claim of this worker waits from now on. */
  add(worker: string): void {
    this.byWorker.set(worker, this.countOf(worker) + 1)
  }

  /** One waits no longer. */
  remove(worker: string): void {
    const others = this.countOf(worker) - 1
    if (others > 0) this.byWorker.set(worker, others)
    else this.byWorker.delete(worker)
  }

  /** How many claims of this worker wait: as long as there are any, enqueues are to notify for it. */
  countOf(worker: string): number {
    return this.byWorker.get(worker) ?? 0
  }

  /** `held`: how many jobs its worker has. */
  join({ executor, kinds, leaseMs }: WaitTerms, held: number): WaitingClaim {
    const key = JSON.stringify([executor, [...kinds].sort()])
    const line = this.lines.get(key) ?? new Line(executor, new Set(kinds))
    this.lines.set(key, line)
    line.members++
    this.askFor(executor)
    const usualMs = Math.min(leaseMs / 3, held > 0 ? HOLDING_MS : MAX_LOOK_MS)
    const place = { wake: new Wake() }
    return {
      wait: async (maxMs, signal) => {
        const now = (): void => place.wake.now()
        signal.addEventListener('abort', now, { once: true })
        if (signal.aborted) now()
        line.enter(place)
        this.wakeups?.pollSoon()
        await place.wake.wait(Math.min(maxMs, this.wakeups?.works ? usualMs : POLL_MS))
        line.remove(place)
        signal.removeEventListener('abort', now)
      },
      looked: (found) => line.looked(place, found),
      leave: () => {
        line.leave(place)
        if (--line.members === 0) this.lines.delete(key)
      },
    }
  }

  /** The poll of the process says when something is due. */
  private askFor(executor: string): void {
    if (this.askedExecutors.has(executor)) return
    this.askedExecutors.add(executor)
    const lines = () => [...this.lines.values()].filter((line) => line.executor === executor)
    this.wakeups?.ask({
      sql: 'iu_core.fn_job_due_in(?, ?)',
      values: () => {
        const kinds = new Set(lines().flatMap((line) => [...line.kinds]))
        return kinds.size === 0 ? undefined : [[...kinds], executor]
      },
      onDue: () => {
        for (const line of lines()) line.setBlocked(true)
      },
      onIdle: () => {
        for (const line of lines()) line.setBlocked(false)
      },
    })
  }
}

interface Place {
  readonly wake: Wake
}

class Line {
  readonly executor: string
  readonly kinds: ReadonlySet<string>
  members = 0
  private readonly waiting: Place[] = []
  /** It was woken and has not looked yet. */
  private turn: Place | undefined
  /** Something may be due that nobody has looked for. */
  private isDue = false
  private isBlocked = false
  private timer: NodeJS.Timeout | undefined

  constructor(executor: string, kinds: ReadonlySet<string>) {
    this.executor = executor
    this.kinds = kinds
  }

  wake(): void {
    this.isDue = true
    if (this.turn !== undefined) return
    this.turn = this.waiting.shift()
    if (this.turn === undefined) return
    this.isDue = false
    this.turn.wake.now()
  }

  /** Each looks for itself, and waits from now on as long as is right then. */
  wakeAll(): void {
    for (const { wake } of this.waiting) wake.now()
  }

  /** After the poll of the process: whether jobs are due that nobody got. */
  setBlocked(isBlocked: boolean): void {
    this.isBlocked = isBlocked
    if (isBlocked) this.wake()
    else this.stopTimer()
  }

  enter(place: Place): void {
    this.waiting.push(place)
    if (this.isDue) this.wake()
  }

  looked(place: Place, found: boolean): void {
    if (this.turn === place) this.turn = undefined
    if (found || this.isDue) this.wake()
    else if (this.isBlocked && this.turn === undefined)
      this.timer ??= setTimeout(() => {
        this.timer = undefined
        this.wake()
      }, BLOCKED_MS)
  }

  remove(place: Place): void {
    const at = this.waiting.indexOf(place)
    if (at >= 0) this.waiting.splice(at, 1)
  }

  leave(place: Place): void {
    this.remove(place)
    if (this.members <= 1) this.stopTimer()
    if (this.turn !== place) return
    // It was woken and will not look: the next one does.
    this.turn = undefined
    this.wake()
  }

  private stopTimer(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}
