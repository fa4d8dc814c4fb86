/** The drain of a server that is about to stop: it says that it is not ready, serves on, and lets go of its connections one by one. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { HealthCheck } from '../kernel/postgres/health.ts'

const POLL_MS = 20

export class Drain {
  private isDraining = false
  private readonly open = new Set<FastifyReply>()

  begin(): void {
    this.isDraining = true
  }

  /** Connections that a proxy keeps open would come back here: each ends with its next answer. */
  watch(app: FastifyInstance): void {
    app.addHook('onRequest', async (_request, reply) => {
      this.open.add(reply)
      reply.raw.once('close', () => this.open.delete(reply))
    })
    app.addHook('onSend', async (_request, reply) => {
      if (this.isDraining) reply.header('connection', 'close')
    })
  }

  /** The checks, and that it drains: not cached, because a load balancer must see it at once. */
  check(health: () => Promise<HealthCheck[]>): () => Promise<HealthCheck[]> {
    return async () => (this.isDraining ? [DRAINING, ...(await health())] : health())
  }

  /** Waits for requests that are still answered. Server-sent events end when the server closes. */
  async whenFinished(maxMs: number): Promise<void> {
    const deadline = performance.now() + maxMs
    while (performance.now() < deadline && [...this.open].some((reply) => !isStream(reply)))
      await sleep(POLL_MS)
  }
}

const DRAINING: HealthCheck = {
  name: 'draining',
  ok: false,
  detail: 'this server is about to stop; it answers what still comes',
}

function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream')
}
