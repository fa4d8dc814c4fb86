import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { APP_ROLES, type AppRole } from '../../db/default-workspace.ts'
import { nullable, problems } from '../responses.ts'

const Me = Type.Object({
  actor: Type.String({ description: 'who the database says you are' }),
  name: nullable(Type.String({ description: 'how people call you' })),
  role: Type.String({ description: 'the database role of your requests' }),
  workspaces: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      role: Type.Enum([...APP_ROLES]),
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
    (request) =>
      request.transaction(async (client) => {
        const { rows } = await client.query<{
          actor: string
          name: string | null
          role: string
          workspaces: { id: string; name: string; role: AppRole }[]
        }>(
          `select iu_core.fn_actor() as actor, iu_core.fn_caller_role() as role,
                  (select max(w.display_name) from iu_core.fn_my_memberships() w) as name,
                  coalesce((select json_agg(json_build_object('id', w.workspace_id, 'name', w.name, 'role', w.app_role)
                                            order by w.name)
                              from iu_core.fn_my_memberships() w), '[]') as workspaces`,
        )
        return rows[0]!
      }),
  )
}
