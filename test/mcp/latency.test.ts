// @module-tag long
/** How long get_status takes over MCP and over HTTP: a round trip of the client, one call after the other. */
import { expect, it } from 'vitest'
import { rowsOf, useMcp } from './mcp-api.ts'

const mcp = useMcp()
const CALLS = 1_000

async function measure(call: () => Promise<unknown>): Promise<{ p50: number; p99: number }> {
  for (let warm = 0; warm < 100; warm++) await call()
  const times: number[] = []
  for (let made = 0; made < CALLS; made++) {
    const began = performance.now()
    await call()
    times.push(performance.now() - began)
  }
  times.sort((one, other) => one - other)
  return { p50: times[CALLS / 2]!, p99: times[CALLS * 0.99]! }
}

it('answers get_status as fast as HTTP answers the same upload', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const { data } = await agent.call('propose_rows', {
    dataset: 'ads',
    platform: 'meta',
    key: 'latency',
    rows: rowsOf('Latency'),
  })
  await agent.call('submit', { change: data.upload, digest: data.digest, title: 'x', explanation: 'x' })
  const over = {
    mcp: await measure(() => agent.call('get_status', { id: data.upload })),
    http: await measure(async () => {
      const reply = await fetch(`${mcp.url}/api/v1/uploads/${data.upload}`, {
        headers: { authorization: `Bearer ${mcp.tokens.agent}` },
      })
      await reply.json()
    }),
  }
  console.log(JSON.stringify(over))
  expect(over.mcp.p50).toBeLessThan(over.http.p50 * 1.5)
})
