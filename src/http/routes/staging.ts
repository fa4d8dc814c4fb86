/** The staging zone over HTTP: hold, look, decide. Every rule is the database's. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { inTransaction } from '../../db/transaction.ts'
import { type NewIssue, openIssue } from '../../events/issues.ts'
import { invalidInput } from '../invalid-input.ts'
import type { ApiContext } from '../server.ts'
import { uploadRoutes } from './staging/blobs.ts'
import { createRoutes } from './staging/create.ts'
import { decisionRoutes } from './staging/decisions.ts'
import { partRoutes } from './staging/parts.ts'
import { recordRoutes } from './staging/records.ts'

const GIBIBYTE = 1024 ** 3

export function stagingRoutes(context: ApiContext): FastifyPluginAsyncTypebox {
  const stores = {
    blobs: context.blobs,
    blobLimit: context.blobLimit ?? 2 * GIBIBYTE,
    // As the back end: whoever reads a part may open no issue.
    issues: (issue: NewIssue) =>
      inTransaction(context.ingest.pool, (client) => openIssue(client, issue), { role: 'dot_executor' }),
  }
  return async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    // Each of the first two reads bodies in a way of its own, which the others must not inherit.
    await api.register(createRoutes(stores))
    await api.register(uploadRoutes(stores))
    await api.register(recordRoutes)
    await api.register(partRoutes(stores))
    await api.register(decisionRoutes(stores))
  }
}
