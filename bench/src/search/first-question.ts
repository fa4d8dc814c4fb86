/** A process that has just started and is asked its first question: it loads the model and the vectors. */
import { inputOf, serve } from '../processes.ts'
import { createPool, createVectorSearch, inTransaction, search } from '../product.ts'
import { CONFIG } from './projected.ts'

export interface FirstQuestion {
  readonly workerUrl: string
  readonly workspace: string
}

export interface FirstAnswer {
  readonly firstMs: number
  /** What the model, the mirror and its thread take. */
  readonly memoryMb: number
  readonly hits: number
}

const { workerUrl, workspace } = inputOf<FirstQuestion>()
const pool = createPool(workerUrl, { role: 'dot_executor', purpose: 'bench', max: 4 })
await pool.query('select 1')
const vectorSearch = createVectorSearch({ pool, config: CONFIG })

serve({
  async ask(text: string): Promise<FirstAnswer> {
    const before = process.memoryUsage.rss()
    const began = performance.now()
    const { hits } = await search(
      { vectorSearch, transaction: (work) => inTransaction(pool, work) },
      { workspaceId: workspace, text, limit: 10, filters: {} },
    )
    return {
      firstMs: performance.now() - began,
      memoryMb: (process.memoryUsage.rss() - before) / 1e6,
      hits: hits.length,
    }
  },
  async stop() {
    await vectorSearch.close()
    await pool.end()
  },
})
