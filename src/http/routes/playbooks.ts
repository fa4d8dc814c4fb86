/** Playbooks over HTTP: registered by the back end, looked at by those who may start them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { parsePlaybook } from '../../executions/playbook/parse.ts'
import { disablePlaybook, enablePlaybook, registerPlaybook } from '../../executions/registration.ts'
import {
  findPlaybook,
  listPlaybooks,
  type PlaybookRecord,
  requirePlaybookNamed,
} from '../../executions/shown-playbooks.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { requireService } from '../service-only.ts'
import { PlaybookName } from './executions/shapes.ts'

const PlaybookShape = Type.Object({
  catalog_id: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  description: nullable(Type.String()),
  open_to_members: Type.Boolean({ description: 'members who may operate in a workspace may start it there' }),
  disabled_at: nullable(Timestamp),
  registered_by: Type.String(),
  created_at: Timestamp,
})

const Written = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 1_048_576, description: 'YAML or JSON' }),
    open_to_members: Type.Boolean({ default: false }),
  },
  {
    additionalProperties: false,
    examples: [
      { text: 'name: hello\nsteps:\n  - step: greet\n    tool: sql\n    args: { query: select 1 }\n' },
    ],
  },
)

export const playbookRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listPlaybooks',
        summary: 'Playbooks that you may see, each in its newest version',
        tags: ['playbooks'],
        querystring: Type.Object(
          {
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: Type.Optional(PlaybookName),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ playbooks: Type.Array(PlaybookShape), next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { limit, ...page } = request.query
      const rows = await request.transaction((client) => listPlaybooks(client, { ...page, limit: limit + 1 }))
      const shown = rows.slice(0, limit)
      return { playbooks: shown.map(present), next: rows.length > limit ? shown.at(-1)!.name : null }
    },
  )

  api.post(
    '/',
    {
      schema: {
        operationId: 'registerPlaybook',
        summary: 'Register a playbook; for tokens of service_role',
        description:
          'A new version, if it says something new. Every problem of a text that cannot be used is in `detail`, with its line.',
        tags: ['playbooks'],
        body: Written,
        response: { 201: PlaybookShape, 200: PlaybookShape, ...problems(400, 401, 403, 422) },
      },
    },
    async (request, reply) => {
      requireService(request, 'playbooks are registered by the back end')
      const { text, open_to_members } = request.body
      const { registered, is_new } = await request.transaction(async (client) => {
        const named = parsePlaybook(text).playbook?.name
        const before = named === undefined ? undefined : await findPlaybook(client, named)
        const { name, version, catalog_id } = await registerPlaybook(client, text, { open_to_members }).catch(
          withAll,
        )
        return {
          registered: await requirePlaybookNamed(client, name, version),
          is_new: catalog_id !== before?.catalog_id,
        }
      })
      return reply.status(is_new ? 201 : 200).send(present(registered))
    },
  )

  api.get(
    '/:name',
    {
      schema: {
        operationId: 'getPlaybook',
        summary: 'One playbook: as it was written, and as it is run',
        tags: ['playbooks'],
        params: Type.Object({ name: PlaybookName }),
        querystring: Type.Object(
          { version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })) },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            ...PlaybookShape.properties,
            content: Type.String({ description: 'as it was written' }),
            playbook: Type.Record(Type.String(), Type.Unknown(), { description: 'as it is run' }),
          }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const found = await request.transaction((client) =>
        requirePlaybookNamed(client, request.params.name, request.query.version),
      )
      return { ...present(found), content: found.content, playbook: { ...found.playbook } }
    },
  )

  for (const [what, work, summary] of [
    ['disable', disablePlaybook, 'No version of it is started any more; what runs goes on'],
    ['enable', enablePlaybook, 'It can be started again'],
  ] as const) {
    api.post(
      `/:name/${what}`,
      {
        schema: {
          operationId: `${what}Playbook`,
          summary: `${summary}; for tokens of service_role`,
          tags: ['playbooks'],
          params: Type.Object({ name: PlaybookName }),
          response: { 200: PlaybookShape, ...problems(400, 401, 403, 404) },
        },
      },
      async (request) => {
        requireService(request, 'playbooks are switched by the back end')
        const { name } = request.params
        const found = await request.transaction(async (client) => {
          await work(client, name)
          return requirePlaybookNamed(client, name)
        })
        return present(found)
      },
    )
  }
}

/** A person who cannot run `playbook check` sees all of them, too. */
function withAll(error: unknown): never {
  if (!(error instanceof StagedoorError) || error.code !== 'playbook_invalid') throw error
  const { playbook, problems: all } = error.details
  if (!Array.isArray(all) || all.length < 2) throw error
  throw new StagedoorError('playbook_invalid', error.details, {
    message: `${playbook} cannot be used: ${all.join('; ')}`,
    hint: error.hint,
  })
}

function present({
  catalog_id,
  name,
  version,
  description,
  open_to_members,
  registered_by,
  ...times
}: PlaybookRecord) {
  return {
    catalog_id,
    name,
    version,
    description,
    open_to_members,
    registered_by,
    disabled_at: times.disabled_at?.toISOString() ?? null,
    created_at: times.created_at.toISOString(),
  }
}
