/** Bodies on their way. One that stalls is cut off, and so are all of them when the server closes. */
import { finished } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const STALL_MS = 60_000
/** How long a close waits for answers that are on their way out. */
const CLOSE_MS = 10_000

export function watchArrivals(app: FastifyInstance, stallMs = STALL_MS): void {
  const arriving = new Set<FastifyRequest['raw']>()
  app.addHook('preParsing', async (request, reply) => {
    const { raw } = request
    if (raw.complete) return
    arriving.add(raw)
    const timer = setInterval(cutWhenStalled(raw), stallMs / 2).unref()
    finished(reply.raw, () => {
      clearInterval(timer)
      arriving.delete(raw)
    })
  })
  app.addHook('preClose', async () => {
    for (const raw of arriving) {
      if (!raw.complete) raw.destroy()
    }
    setTimeout(() => app.server.closeAllConnections(), CLOSE_MS).unref()
  })
}

/** Not a byte came between two looks, although somebody here was reading. */
function cutWhenStalled(raw: FastifyRequest['raw']): () => void {
  let seen = -1
  return () => {
    const reading = !raw.complete && raw.readableFlowing === true
    if (reading && raw.socket.bytesRead === seen) raw.destroy()
    seen = reading ? raw.socket.bytesRead : -1
  }
}
