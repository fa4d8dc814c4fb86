/**
 * Where claims of each kind and priority ended. The next claim begins there, behind the dead rows of what was just claimed:
 * with a snapshot held anywhere they stay in the index, and every claim would walk over all of them.
 */
import type { ClaimCursors, ClaimedJob } from './lease.ts'

/** What was enqueued behind a cursor, or given back, is found by a claim from the start. */
const RESCAN_MS = 1000

export class Cursors {
  private places: Record<string, Record<string, ClaimedJob>> = {}
  private rescannedAt = performance.now()

  /** Undefined: from the start. */
  get after(): ClaimCursors | undefined {
    if (performance.now() - this.rescannedAt > RESCAN_MS) this.reset()
    if (Object.keys(this.places).length === 0) return undefined
    return Object.fromEntries(
      Object.entries(this.places).map(([kind, priorities]) => [
        kind,
        Object.fromEntries(
          Object.entries(priorities).map(([priority, { due, job_id }]) => [
            priority,
            { process_after: due, job_id },
          ]),
        ),
      ]),
    )
  }

  advance(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) {
      this.places[job.job_kind] ??= {}
      const place = this.places[job.job_kind]!
      const last = place[job.priority]
      if (last === undefined || isLater(job, last)) place[job.priority] = job
    }
  }

  reset(): void {
    this.places = {}
    this.rescannedAt = performance.now()
  }
}

/** Within a millisecond the texts differ in their digits only, so they can be compared. */
function isLater(one: ClaimedJob, other: ClaimedJob): boolean {
  const ms = one.process_after.getTime() - other.process_after.getTime()
  if (ms !== 0) return ms > 0
  return one.due === other.due ? one.job_id > other.job_id : one.due > other.due
}
