/** What a process without the API counted, for a scraper on the same machine or in the same pod. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StagedoorError } from '../errors.ts'
import type { Measures } from '../http/measures.ts'

export interface MetricsPort {
  readonly url: string
  close(): Promise<void>
}

/** Counts and durations without a token, so only here unless somebody says otherwise. */
export const METRICS_HOST = '127.0.0.1'

export async function openMetricsPort(
  measures: Measures,
  port: number,
  host: string = METRICS_HOST,
): Promise<MetricsPort> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    measures.renderOwn().then(
      (text) => response.writeHead(200, { 'content-type': measures.contentType }).end(text),
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
