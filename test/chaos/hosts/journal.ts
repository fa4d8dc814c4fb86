/** What the handlers of the hosts wrote: which host ran what, how often, and when. */
import { existsSync, readFileSync } from 'node:fs'

interface Entry {
  readonly host: string
  readonly pid: number
  readonly id: string
  readonly at: 'begin' | 'end'
  readonly time: number
}

export interface Journal {
  readonly entries: readonly Entry[]
  /** How often each was begun. */
  readonly runs: ReadonlyMap<string, number>
  /** How many were begun by each host. */
  readonly byHost: Readonly<Record<string, number>>
  /** Runs beyond the first of each. */
  readonly repeated: number
}

export function readJournal(file: string): Journal {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const entries = lines.map((line) => JSON.parse(line) as Entry)
  const runs = new Map<string, number>()
  const byHost: Record<string, number> = {}
  for (const { id, host, at } of entries) {
    if (at !== 'begin') continue
    runs.set(id, (runs.get(id) ?? 0) + 1)
    byHost[host] = (byHost[host] ?? 0) + 1
  }
  const begun = [...runs.values()].reduce((sum, count) => sum + count, 0)
  return { entries, runs, byHost, repeated: begun - runs.size }
}
