/** Job kinds: how their jobs are treated, paused or not. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { KindSettings as Settings } from '../../../jobs/queue.ts'
import { listKinds, pauseKind, resumeKind, setKind } from '../../../jobs/queue.ts'
import { invalidInput } from '../../invalid-input.ts'
import { problems } from '../../responses.ts'
import { Kind, KindSettings, KindShape, presentKind } from './shapes.ts'

const OfKind = Type.Object({ kind: Kind })
const BACK_END = 'For tokens of service_role: a kind is shared by all workspaces.'

export const jobKindRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listJobKinds',
        summary: 'The kinds of jobs and how each is treated',
        tags: ['jobs'],
        response: { 200: Type.Object({ kinds: Type.Array(KindShape) }), ...problems(401) },
      },
    },
    async (request) => ({ kinds: (await request.transaction(listKinds)).map(presentKind) }),
  )

  api.patch(
    '/:kind',
    {
      schema: {
        operationId: 'setJobKind',
        summary: 'Set how jobs of a kind are treated; what is left out stays',
        description: BACK_END,
        tags: ['jobs'],
        params: OfKind,
        body: KindSettings,
        response: { 200: KindShape, ...problems(400, 401, 403) },
      },
    },
    async (request) => {
      const { kind } = request.params
      const kinds = await request.transaction(async (client) => {
        await setKind(client, kind, request.body as Settings)
        return listKinds(client)
      })
      return presentKind(kinds.find(({ job_kind }) => job_kind === kind)!)
    },
  )

  for (const [action, change, summary] of [
    ['pause', pauseKind, 'Nothing more of this kind is begun until it is resumed; what runs goes on'],
    ['resume', resumeKind, 'Jobs of this kind are begun again'],
  ] as const) {
    api.post(
      `/:kind/${action}`,
      {
        schema: {
          operationId: `${action}JobKind`,
          summary,
          description: BACK_END,
          tags: ['jobs'],
          params: OfKind,
          response: { 200: KindShape, ...problems(400, 401, 403, 404) },
        },
      },
      async (request) => {
        const { kind } = request.params
        const kinds = await request.transaction(async (client) => {
          await change(client, kind)
          return listKinds(client)
        })
        return presentKind(kinds.find(({ job_kind }) => job_kind === kind)!)
      },
    )
  }
}
