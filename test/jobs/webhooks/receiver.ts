/** A receiver of webhooks on this machine. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { CERTIFICATE, KEY } from './certificate.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly path: string
}

export interface Receiver {
  readonly port: number
  readonly received: Received[]
  /** The status of the next answers, one after the other; the last one stays. 'silence': no answer. */
  answer(...statuses: (number | 'silence')[]): void
}

export function useReceivers(): (options?: { secure?: boolean }) => Promise<Receiver> {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  return async ({ secure = false } = {}) => {
    const received: Received[] = []
    let answers: (number | 'silence')[] = [204]
    const listener: RequestListener = async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push({ headers: request.headers, body, path: request.url! })
      const status = answers.length > 1 ? answers.shift()! : answers[0]!
      if (status === 'silence') return
      response
        .writeHead(status, status >= 300 && status < 400 ? { location: 'http://127.0.0.1:1/' } : {})
        .end()
    }
    const server = secure
      ? createSecureServer({ cert: CERTIFICATE, key: KEY }, listener)
      : createServer(listener)
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return {
      port: (server.address() as AddressInfo).port,
      received,
      answer: (...statuses) => {
        answers = statuses
      },
    }
  }
}

/** As a receiver checks it, by the specification's words. */
export function isGenuine(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = createHmac('sha256', key).update(signed).digest()
  return String(headers['webhook-signature'])
    .split(' ')
    .map((one) => one.split(','))
    .some(([version, value]) => version === 'v1' && timingSafeEqual(expected, Buffer.from(value!, 'base64')))
}
