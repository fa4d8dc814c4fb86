/** A TCP proxy in front of any server that delays, stalls or resets connections on demand. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Fault {
  /** `stall`: no byte passes any more and the connection stays open. `reset`: both ends get a RST. */
  readonly kind: 'stall' | 'reset'
  /** `up`: counted from the client to the server. */
  readonly direction: 'up' | 'down'
  /** Of one connection, before the fault; of `up` 0 is before the first byte. */
  readonly afterBytes: number
  /** How many connections it hits; default: all. */
  readonly times?: number
}

export interface FaultProxy {
  readonly port: number
  /** Connections that the fault has hit. */
  readonly hits: number
  /** For connections that are open, and new ones. Undefined: none. */
  setFault(fault: Fault | undefined): void
  /** Every chunk passes so many milliseconds late, in both directions. */
  setDelay(milliseconds: number): void
  stop(): Promise<void>
}

export async function startFaultProxy(target: { host?: string; port: number }): Promise<FaultProxy> {
  let fault: Fault | undefined
  let delayMs = 0
  let hits = 0
  const sockets = new Set<Socket>()

  const join = (client: Socket): void => {
    const server = connect(target.port, target.host ?? '127.0.0.1')
    let isStalled = false
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const hit = ({ kind }: Fault): void => {
      hits++
      if (kind === 'stall') isStalled = true
      else for (const socket of [client, server]) socket.resetAndDestroy()
    }
    const pass = (from: Socket, to: Socket, direction: Fault['direction']): void => {
      let passed = 0
      const send = (chunk: Buffer): void => {
        if (!isStalled && to.writable) to.write(chunk)
      }
      from.on('data', (chunk) => {
        const armed = fault?.direction === direction ? fault : undefined
        if (
          armed &&
          hits < (armed.times ?? Number.POSITIVE_INFINITY) &&
          passed + chunk.length > armed.afterBytes
        ) {
          send(chunk.subarray(0, Math.max(0, armed.afterBytes - passed)))
          if (!isStalled) hit(armed)
          return
        }
        passed += chunk.length
        if (delayMs > 0) setTimeout(send, delayMs, chunk)
        else send(chunk)
      })
      from.on('end', () => !isStalled && setTimeout(() => to.end(), delayMs))
      from.on('close', () => setTimeout(() => to.destroy(), delayMs))
    }
    pass(client, server, 'up')
    pass(server, client, 'down')
  }

  const listener = createServer({ allowHalfOpen: true }, join)
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    get hits() {
      return hits
    },
    setFault(next) {
      fault = next
      hits = 0
    },
    setDelay(milliseconds) {
      delayMs = milliseconds
    },
    async stop() {
      listener.close()
      for (const socket of sockets) socket.destroy()
      await once(listener, 'close')
    },
  }
}
