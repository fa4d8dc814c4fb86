/** A worker of search in a process of its own, to be killed. Its embedder is slow enough to be met in the middle of something. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { openProviders } from '../../src/search/providers.ts'
import { startSearchWorker } from '../../src/search/worker.ts'

const { url } = JSON.parse(process.argv[2]!) as { url: string }
await once(process.stdin, 'data')
const pool = createPool(url, { role: 'vector_worker', max: 4 })
const providers = openProviders(pool, {
  embeddingsUrl: undefined,
  embeddingsApiKey: undefined,
  qdrantUrl: undefined,
  qdrantApiKey: undefined,
})
const worker = await startSearchWorker({
  pool,
  listenUrl: url,
  providers,
  batch: 10,
  leaseMs: 5000,
  fitModels: false,
  hooks: { boundary: () => delay(5) },
})
console.log('ready')
process.on('SIGTERM', async () => {
  await worker.stop()
  await providers.close()
  await pool.end()
  process.exit(0)
})
