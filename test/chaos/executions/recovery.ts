/** How long the shards of a killed engine were without a living owner. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

export interface Recovery {
  /** Killed just now; its engine is called `chaos <pid>`. */
  add(pid: number): void
  /** Of those that held something, in milliseconds, sorted. */
  stop(): Promise<number[]>
}

export function watchRecovery(url: string): Recovery {
  /** Killed, with the shards that were theirs and the moment. */
  const dead = new Map<string, { at: number; shards: Set<number> | undefined }>()
  const times: number[] = []
  let stopping = false

  const look = (owners: ReadonlyMap<number, string | null>): void => {
    for (const [name, death] of dead) {
      death.shards ??= new Set([...owners].filter(([, owner]) => owner === name).map(([shard]) => shard))
      // Nobody's, or still with the dead one, is not recovered.
      for (const shard of death.shards) {
        const owner = owners.get(shard)
        if (owner !== null && owner !== undefined && owner !== name) death.shards.delete(shard)
      }
      if (death.shards.size > 0) continue
      dead.delete(name)
      times.push(Math.round(performance.now() - death.at))
    }
  }

  const watching = (async () => {
    const client = new pg.Client(url)
    await client.connect()
    while (!stopping || dead.size > 0) {
      const { rows } = await client.query<{ shard_id: number; name: string | null }>(
        'select s.shard_id, e.name from noetl.execution_shard s left join noetl.engine e on e.engine_id = s.owner',
      )
      look(new Map(rows.map((row) => [row.shard_id, row.name])))
      await delay(50)
    }
    await client.end()
  })()

  return {
    add: (pid) => void dead.set(`chaos ${pid}`, { at: performance.now(), shards: undefined }),
    async stop() {
      stopping = true
      await watching
      return times.sort((one, other) => one - other)
    },
  }
}
