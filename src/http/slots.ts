/** A few places for work that needs much at once. A caller has one at most, or `each`, so nobody takes them all. */
import { finished } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { StagedoorError } from '../errors.ts'

interface Waiting {
  readonly caller: string
  enter(): void
}

export type Slots = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Resolves when there is a place. It is free again when the request has been answered or has gone away. */
export function createSlots(count: number, each = 1): Slots {
  const taken: string[] = []
  const queue: Waiting[] = []

  const admit = (): void => {
    while (taken.length < count) {
      const next = queue.findIndex(({ caller }) => taken.filter((other) => other === caller).length < each)
      if (next === -1) return
      const [waiting] = queue.splice(next, 1)
      taken.push(waiting!.caller)
      waiting!.enter()
    }
  }

  return (request, reply) =>
    new Promise((resolve, reject) => {
      const waiting = { caller: request.principal?.subject ?? request.ip, enter: resolve }
      queue.push(waiting)
      finished(reply.raw, () => {
        const place = queue.indexOf(waiting)
        if (place === -1) taken.splice(taken.indexOf(waiting.caller), 1)
        else queue.splice(place, 1)
        // Of no consequence for whoever has entered.
        reject(new StagedoorError('request_invalid', { reason: 'the request went away while it waited' }))
        admit()
      })
      admit()
    })
}
