/** Limits: how large and how many. Limits of kinds of jobs are in jobs.ts. */
import { UploadLimits, uploadLimits } from '../ingest/uploads.ts'
import { shape, Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { requireReader } from './datasets.ts'
import { routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'

const DEFAULT_BLOB_LIMIT = 2 ** 31

export const limitRoutes = ({
  config,
  blobLimit = DEFAULT_BLOB_LIMIT,
}: Pick<ApiContext, 'config' | 'blobLimit'>) =>
  routes('limits', (api) => {
    api.get('/limits', {
      operationId: 'getLimits',
      summary:
        'How large an upload of a workspace may be, how many are read at once, and the limits of the API',
      description:
        'An administrator of the database changes the limits of uploads: `stagedoor upload limits`. Those of the API are settings of its process.',
      query: { workspace_id: Workspace },
      answer: shape('Limits', {
        uploads: UploadLimits,
        api: shape('ApiLimits', {
          body_bytes: Type.Number({ description: 'largest JSON body: STAGEDOOR_BODY_LIMIT' }),
          blob_bytes: Type.Number({ description: 'largest staged part: STAGEDOOR_BLOB_LIMIT' }),
          requests_a_minute: Type.Integer({
            description: 'of one caller: STAGEDOOR_RATE_LIMIT; 0: no limit',
          }),
        }),
      }),
      problems: [403],
      handle: async (request) => ({
        uploads: await request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          await requireReader(client, workspace)
          return uploadLimits(client, workspace)
        }),
        api: { body_bytes: config.bodyLimit, blob_bytes: blobLimit, requests_a_minute: config.rateLimit },
      }),
    })
  })
