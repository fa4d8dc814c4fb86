/** A process with led maintenance: every run leaves a row with its number. */
import { once } from 'node:events'
import pino from 'pino'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { startMaintenance } from '../../src/runtime/periodic-tasks.ts'
import { openWakeups } from '../../src/runtime/wakeups.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
await once(process.stdin, 'data')
const log = pino({ level: 'silent' })
const pool = createPool(url, { role: 'dot_executor', max: 2 })
const task = {
  name: 'led',
  everyMs: 200,
  led: true,
  async run(client: { query(text: string, values: unknown[]): Promise<unknown> }): Promise<undefined> {
    await client.query('insert into public.led_run (pid) values ($1)', [process.pid])
  },
} as const
const wakeups = openWakeups(url, log)
const maintenance = startMaintenance(pool, [task], log, wakeups)
console.log('ready')
process.on('SIGTERM', async () => {
  await maintenance.stop()
  await wakeups.close()
  await pool.end()
  process.exit(0)
})
