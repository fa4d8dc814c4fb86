/** A TCP proxy in front of PostgreSQL that passes every byte on so many milliseconds late, in both directions. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface DelayingProxy {
  /** The same database through the proxy. */
  url(direct: string): string
  stop(): Promise<void>
}

export async function startDelayingProxy(direct: string, delayMs: number): Promise<DelayingProxy> {
  const target = new URL(direct)
  const sockets = new Set<Socket>()
  const passOn = (from: Socket, to: Socket): void => {
    from.on('data', (data) => setTimeout(() => to.writable && to.write(data), delayMs))
    from.on('close', () => setTimeout(() => to.destroy(), delayMs))
    from.on('error', () => {})
    sockets.add(from)
    from.on('close', () => sockets.delete(from))
  }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    client.setNoDelay(true)
    upstream.setNoDelay(true)
    passOn(client, upstream)
    passOn(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url(of) {
      const url = new URL(of)
      url.hostname = '127.0.0.1'
      url.port = String(port)
      return url.href
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
