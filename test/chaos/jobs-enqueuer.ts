/**
 * Enqueues as a dispatcher does: its position and the jobs are committed together, so that whenever it is killed, its
 * successor goes on where it was.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool } from '../../src/db/connection.ts'
import { inTransaction } from '../../src/db/transaction.ts'
import { enqueueMany } from '../../src/jobs/queue.ts'

const { url, most, waiting } = JSON.parse(process.argv[2]!) as { url: string; most: number; waiting: number }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'dot_executor', max: 2 })
process.on('SIGTERM', () => process.exit(0))
console.log('ready')

for (;;) {
  try {
    await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ next: number; here: number }>(
        `select next, (select count(*)::integer from iu_core.job_queue where leased_by is null) as here
           from public.chaos_position for update`,
      )
      const { next, here } = rows[0]!
      if (next >= most || here > waiting) return
      const numbers = Array.from({ length: 10 }, (_, n) => next + n)
      await enqueueMany(
        client,
        numbers.map((n) => ({
          job_kind: 'chaos',
          idempotency_key: `n${n}`,
          source_ref: String(n),
          safe_payload: { ms: (n * 7) % 40 },
        })),
      )
      await client.query('update public.chaos_position set next = $1', [next + numbers.length])
    })
  } catch {
    await delay(100) // The server is being restarted.
  }
  await delay(20)
}
