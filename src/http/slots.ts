/** A few places for work that needs much memory at once. A caller has one at most, so nobody takes them all. */
import { finished } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { StagedoorError } from '../errors.ts'

interface Waiting {
  readonly caller: string
  enter(): void
}

export type Slots = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Resolves when there is a place. It is free again when the request has been answered or has gone away. */
export function createSlots(count: number): Slots {
  const callers = new Set<string>()
  const queue: Waiting[] = []

  const admit = (): void => {
    while (callers.size < count) {
      const next = queue.findIndex(({ caller }) => !callers.has(caller))
      if (next === -1) return
      const [waiting] = queue.splice(next, 1)
      callers.add(waiting!.caller)
      waiting!.enter()
    }
  }

  return (request, reply) =>
    new Promise((resolve, reject) => {
      const waiting = { caller: request.principal?.subject ?? request.ip, enter: resolve }
      queue.push(waiting)
      finished(reply.raw, () => {
        const place = queue.indexOf(waiting)
        if (place === -1) callers.delete(waiting.caller)
        else queue.splice(place, 1)
        // Of no consequence for whoever has entered.
        reject(new StagedoorError('request_invalid', { reason: 'the request went away while it waited' }))
        admit()
      })
      admit()
    })
}
