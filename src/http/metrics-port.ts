/** The metrics of a process without the API, for a scraper on the same machine or in the same pod, and whether it is alive. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '../app/metrics.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { VERSION } from '../kernel/version.ts'

export interface MetricsPort {
  readonly url: string
  close(): Promise<void>
}

/** Counts and durations without a token: the host decides who can read them. */
export async function openMetricsPort(metrics: Metrics, port: number, host: string): Promise<MetricsPort> {
  const server = createServer((request, response) => {
    const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined
    // As the API's /api/health: whether the process answers, not whether its work goes well.
    if (path === '/health') {
      const text = JSON.stringify({ status: 'ok', version: VERSION })
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      return
    }
    if (path !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    metrics.renderOwn().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StagedoorError('port_in_use', { port, host }, { cause: error })
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
