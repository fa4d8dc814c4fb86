import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the range from which systems take ports for outgoing connections: a client that tries again while
 * the server restarts could otherwise be given the server's own port and connect to itself.
 */
const FIRST = 20_000
const LAST = 32_000

/** The remembered port if it is still free, else another. */
export async function choosePort(remembered: number | undefined): Promise<number> {
  if (remembered !== undefined && (await isFree(remembered))) return remembered
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port found between ${FIRST} and ${LAST}`)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
