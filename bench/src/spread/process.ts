/**
 * One process of `spread`: an engine that drives the execution, one that only runs items, which wait and do nothing else, or the floor:
 * the same waits, as many at once, without the product.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { expression, openExecutions } from '../executions.ts'
import { inputOf, serve } from '../processes.ts'
import { definePlaybook } from '../product.ts'

export interface SpreadProcess {
  readonly role: 'driver' | 'worker' | 'floor'
  readonly url: string
  readonly workerUrl: string
  readonly concurrency: number
  readonly itemMs: number
}

const wide = definePlaybook({
  name: 'wide',
  args: { items: 0 },
  steps: [
    {
      step: 'split',
      tool: 'handler',
      call: 'split',
      args: { items: expression('args.items') },
      next: 'each',
    },
    {
      step: 'each',
      tool: 'handler',
      call: 'item',
      args: { n: expression('item') },
      loop: { in: expression('steps.split.result'), mode: 'fanout' },
      next: 'join',
    },
    { step: 'join', tool: 'handler', call: 'join', args: { done: expression('steps.each.fanin.done') } },
  ],
})
const LOOK_MS = 5
const LATEST = 'select event_type, error from noetl.event where execution_id = $1 order by seq desc limit 1'

const { role, url, workerUrl, concurrency, itemMs } = inputOf<SpreadProcess>()
await { driver: drive, worker: work, floor: wait }[role]()

async function drive(): Promise<void> {
  const executions = await openExecutions(
    workerUrl,
    {
      split: ({ items }) => Array.from({ length: items as number }, (_, index) => index),
      join: ({ done }) => done,
    },
    { runs: false },
  )
  await executions.register(wide)
  const session = new pg.Client(url)
  await session.connect()
  serve({
    /** Milliseconds until the end of the execution is durable. */
    async run(items: number) {
      const began = performance.now()
      const id = await executions.start('wide', { items })
      for (;;) {
        const { rows } = await session.query({ name: 'latest', text: LATEST, values: [id] })
        if (rows[0]?.event_type === 'playbook.failed') throw new Error(rows[0].error)
        if (rows[0]?.event_type === 'playbook.completed') return performance.now() - began
        await delay(LOOK_MS)
      }
    },
    async stop() {
      await executions.stop()
      await session.end()
    },
  })
}

async function work(): Promise<void> {
  const runs: number[] = []
  const executions = await openExecutions(
    workerUrl,
    {
      async item({ n }) {
        runs.push(n as number)
        await delay(itemMs)
        return n
      },
    },
    { drives: false, concurrency },
  )
  serve({ runs: () => runs, stop: () => executions.stop() })
}

async function wait(): Promise<void> {
  serve({
    /** Milliseconds for so many waits. */
    async run(items: number) {
      const began = performance.now()
      let left = items
      await Promise.all(
        Array.from({ length: concurrency }, async () => {
          while (left-- > 0) await delay(itemMs)
        }),
      )
      return performance.now() - began
    },
    async stop() {},
  })
}
