/** Uploads over HTTP: a file comes in, is read behind the scenes, planned, decided, promoted, undone. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { invalidInput } from '../invalid-input.ts'
import type { ApiContext } from '../server.ts'
import { createRoutes } from './uploads/create.ts'
import { decisionRoutes } from './uploads/decisions.ts'
import { listRoutes } from './uploads/list.ts'
import { planRoutes } from './uploads/plan.ts'
import { progressRoutes } from './uploads/progress.ts'
import { createReadings } from './uploads/readings.ts'
import { repairRoutes } from './uploads/repair.ts'
import { rowRoutes } from './uploads/rows.ts'

export function uploadRoutes({ ingest }: ApiContext): FastifyPluginAsyncTypebox {
  return async (api) => {
    const readings = createReadings(ingest, api.log)
    api.addHook('preClose', () => readings.stop())
    // Again: a request that was on its way may have begun another.
    api.addHook('onClose', () => readings.stop())
    api.setSchemaErrorFormatter(invalidInput)
    // It reads bodies in a way of its own, which the others must not inherit.
    await api.register(createRoutes(ingest, readings))
    await api.register(listRoutes)
    await api.register(progressRoutes(readings))
    await api.register(rowRoutes)
    await api.register(repairRoutes(ingest))
    await api.register(planRoutes)
    await api.register(decisionRoutes)
  }
}
