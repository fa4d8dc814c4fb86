/** `stagedoor health --url`: what health checks of containers and services run. Without a database. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMetrics } from '../../src/app/metrics.ts'
import { type MetricsPort, openMetricsPort } from '../../src/http/metrics-port.ts'
import { freePort, runCli } from '../support/cli.ts'

let server: Server
let port: string
let worker: MetricsPort
let isReady = true

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    const ready = { status: isReady ? 'ready' : 'not_ready', path: url }
    response.writeHead(isReady ? 200 : 503).end(JSON.stringify(ready))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = String((server.address() as AddressInfo).port)
  worker = await openMetricsPort(createMetrics(), 0, '127.0.0.1')
})
afterAll(async () => {
  server.close()
  await worker.close()
})

it('asks the server on the port of the settings whether it is ready', async () => {
  isReady = true
  const ready = await runCli(['health', '--url'], { PORT: port })
  expect(ready).toMatchObject({ code: 0, stdout: expect.stringContaining('"path":"/api/ready"') })
  isReady = false
  const notReady = await runCli(['health', '--url', '--json'], { PORT: port })
  expect(notReady.code).toBe(4)
  expect(JSON.parse(notReady.stdout)).toMatchObject({
    url: `http://127.0.0.1:${port}/api/ready`,
    ok: false,
    detail: expect.stringContaining('not_ready'),
  })
})

it('asks a worker at its metrics port whether it is alive', async () => {
  const url = worker.url.replace('/metrics', '/health')
  expect(await runCli(['health', '--url', url])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"status":"ok"'),
  })
  expect(await (await fetch(worker.url)).text()).toContain('stagedoor_jobs_claimed_total')
  expect((await fetch(`${url}y`)).status).toBe(404)
})

it('ends with 4 where nobody answers, and refuses what is no address or makes no sense', async () => {
  const nobody = await runCli(['health', '--url'], { PORT: String(await freePort()) })
  expect(nobody).toMatchObject({ code: 4, stdout: expect.stringContaining('ECONNREFUSED') })
  expect(await runCli(['health', '--url', 'localhost'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not an address like http://127.0.0.1:4680/api/ready'),
  })
  expect(await runCli(['health', '--url', '--storage'])).toMatchObject({ code: 2 })
})
