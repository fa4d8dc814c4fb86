/**
 * Emits events and dispatches them, as the server's own process does. Its position and the events are committed together, so
 * that whenever it is killed, its successor goes on where it was; so do the reader's position and the jobs.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { startDispatcher } from '../../src/events/dispatcher.ts'
import { emitEvents } from '../../src/events/outbox.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'

const { url, waiting } = JSON.parse(process.argv[2]!) as { url: string; waiting: number }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'dot_executor', max: 4 })
startDispatcher(pool, pino({ level: 'silent' }), { pollMs: 10, batch: 100 })
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
      if (here > waiting) return
      const numbers = Array.from({ length: 10 }, (_, n) => next + n)
      await emitEvents(
        client,
        numbers.map((n) => ({
          event_domain: 'dot',
          event_type: 'run.applied',
          event_subject_ref: String(n),
        })),
      )
      await client.query('update public.chaos_position set next = $1', [next + numbers.length])
    })
  } catch {
    await delay(100) // The server is being restarted.
  }
  await delay(20)
}
