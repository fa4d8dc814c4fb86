/** How long the jobs of a killed worker were nobody's: until its lease was taken away. While the server is down no time passes. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

export interface Deaths {
  /** Killed just now; its worker is called `chaos <pid>`. */
  add(pid: number): void
  whileDown(work: () => Promise<void>): Promise<void>
  /** Of those that had a lease, in milliseconds, sorted. */
  stop(): Promise<number[]>
}

export function watchDeaths(url: string): Deaths {
  const dead = new Map<string, number>()
  const seen = new Set<string>()
  const times: number[] = []
  let downMs = 0
  let stopping = false
  const now = (): number => performance.now() - downMs

  const look = async (): Promise<void> => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    try {
      while (!stopping || dead.size > 0) {
        const { rows } = await client.query<{ name: string }>('select name from iu_core.job_worker')
        const leased = new Set(rows.map((row) => row.name))
        for (const [name, at] of dead) {
          if (leased.has(name)) seen.add(name)
          else {
            if (seen.has(name)) times.push(Math.round(now() - at))
            dead.delete(name)
          }
        }
        await delay(50)
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
  const watching = (async () => {
    while (!stopping || dead.size > 0) await look().catch(() => delay(50))
  })()

  return {
    add: (pid) => void dead.set(`chaos ${pid}`, now()),
    async whileDown(work) {
      const began = performance.now()
      await work()
      downMs += performance.now() - began
    },
    async stop() {
      stopping = true
      await watching
      return times.sort((one, other) => one - other)
    },
  }
}
