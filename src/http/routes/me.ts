import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { APP_ROLES, whoAmI } from '../../access/members.ts'
import { nullable, problems } from '../responses.ts'

const Me = Type.Object({
  actor: Type.String({ description: 'who the database says you are' }),
  name: nullable(Type.String({ description: 'how people call you' })),
  role: Type.String({ description: 'the database role of your requests' }),
  workspaces: Type.Array(
    Type.Object({
      id: Type.String(),
      name: nullable(Type.String()),
      role: Type.Enum([...APP_ROLES]),
      rights: Type.Array(Type.String(), { description: 'read, stage, operate, review, administer' }),
    }),
  ),
})

export const meRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/me',
    {
      schema: {
        operationId: 'me',
        summary: 'Who am I, and in which workspaces?',
        tags: ['access'],
        response: { 200: Me, ...problems(401) },
      },
    },
    (request) => request.transaction(whoAmI),
  )
}
