/** Playbooks: registered by the back end, looked at by those who may start them. */
import { parsePlaybook } from '../executions/playbook/parse.ts'
import {
  checkWithCatalog,
  diffPlaybook,
  disablePlaybook,
  enablePlaybook,
  findPlaybook,
  getPlaybook,
  listPlaybooks,
  listPlaybookVersions,
  registerPlaybook,
} from '../executions/playbooks.ts'
import { PlaybookDiff, PlaybookProblem, PlaybookRecord } from '../executions/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { IntegerOrNull, JsonObject, nullable, shape, Type } from '../kernel/schema.ts'
import { requireService } from './access.ts'
import { PlaybookName } from './executions.ts'
import { Limit, listPage, page, routes } from './routes.ts'

const params = { name: PlaybookName }
const PlaybookText = Type.String({ minLength: 1, maxLength: 1_048_576, description: 'YAML or JSON' })
const Version = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }))
const Definition = Type.Unsafe<object>({ ...JsonObject, description: 'as it is run' })

export const playbookRoutes = routes('playbooks', (api) => {
  api.get('/', {
    operationId: 'listPlaybooks',
    replica: true,
    summary: 'Playbooks that you may see, each in its newest version',
    query: { limit: Limit, after: Type.Optional(PlaybookName) },
    answer: page('playbooks', PlaybookRecord),
    handle: (request) =>
      listPage(request.query, 'playbooks', 'name', (filter) =>
        request.transaction((client) => listPlaybooks(client, filter)),
      ),
  })

  api.post('/', {
    operationId: 'registerPlaybook',
    summary: 'Register a playbook; for tokens of service_role',
    description:
      'A new version (201), if the text differs from the newest one. Every problem of an invalid text is in `detail`, with its line.',
    body: {
      text: PlaybookText,
      open_to_members: Type.Boolean({ default: false }),
    },
    example: { text: 'name: hello\nsteps:\n  - step: greet\n    tool: sql\n    args: { query: select 1 }\n' },
    answer: PlaybookRecord,
    problems: [403, 422],
    schema: { response: { 201: PlaybookRecord } },
    handle: (request, reply) => {
      requireService(request, 'playbooks are registered by the back end')
      const { text, open_to_members } = request.body
      return request.transaction(async (client) => {
        const named = parsePlaybook(text).playbook?.name
        const before = named === undefined ? undefined : await findPlaybook(client, named)
        const registered = await registerPlaybook(client, text, { openToMembers: open_to_members }).catch(
          withAllProblems,
        )
        if (registered.catalog_id !== before?.catalog_id) reply.status(201)
        return getPlaybook(client, registered.name, registered.version)
      })
    },
  })

  api.post('/check', {
    operationId: 'checkPlaybook',
    summary: 'Everything that is wrong with a playbook, each with its line; registers nothing',
    description: 'Calls are checked against the registered playbooks that you may see.',
    body: { text: PlaybookText },
    example: { text: 'name: hello\nsteps:\n  - { step: greet, tool: sqll }\n' },
    answer: shape('PlaybookCheck', {
      ok: Type.Boolean({ description: 'false: it would be refused' }),
      problems: Type.Array(PlaybookProblem),
      playbook: nullable(Definition),
    }),
    handle: async (request) => {
      const { playbook, problems } = await request.transaction((client) =>
        checkWithCatalog(client, request.body.text),
      )
      return { ok: playbook !== undefined, problems: [...problems], playbook: playbook ?? null }
    },
  })

  api.get('/:name', {
    operationId: 'getPlaybook',
    replica: true,
    summary: 'One playbook: as it was written, and as it is run',
    params,
    query: { version: Version },
    answer: shape('PlaybookDetail', {
      ...PlaybookRecord.properties,
      content: Type.String({ description: 'as it was written' }),
      playbook: Definition,
    }),
    problems: [404],
    handle: (request) =>
      request.transaction((client) => getPlaybook(client, request.params.name, request.query.version)),
  })

  api.get('/:name/versions', {
    operationId: 'listPlaybookVersions',
    replica: true,
    summary: 'The versions of a playbook, newest first',
    params,
    query: { limit: Limit, before: Version },
    answer: Type.Object({ versions: Type.Array(PlaybookRecord), next: IntegerOrNull }),
    problems: [404],
    handle: async (request) => {
      const { limit, before } = request.query
      const rows = await request.transaction((client) =>
        listPlaybookVersions(client, request.params.name, { limit: limit + 1, before }),
      )
      const versions = rows.slice(0, limit)
      return { versions, next: rows.length > limit ? versions.at(-1)!.version : null }
    },
  })

  api.get('/:name/diff', {
    operationId: 'diffPlaybook',
    replica: true,
    summary: 'What changed between two versions of a playbook',
    description: 'Without `to`: up to the newest. Without `from`: from the version before.',
    params,
    query: { from: Version, to: Version },
    answer: PlaybookDiff,
    problems: [404],
    handle: (request) =>
      request.transaction((client) => diffPlaybook(client, request.params.name, request.query)),
  })

  for (const [action, change, summary] of [
    ['disable', disablePlaybook, 'No version of it is started any more; running executions go on'],
    ['enable', enablePlaybook, 'It can be started again'],
  ] as const) {
    api.post(`/:name/${action}`, {
      operationId: `${action}Playbook`,
      summary: `${summary}; for tokens of service_role`,
      params,
      answer: PlaybookRecord,
      problems: [403, 404],
      handle: (request) => {
        requireService(request, 'playbooks are switched by the back end')
        return request.transaction(async (client) => {
          await change(client, request.params.name)
          return getPlaybook(client, request.params.name)
        })
      },
    })
  }
})

/** Somebody who cannot run `playbook check` sees all of them, too. */
function withAllProblems(error: unknown): never {
  if (!(error instanceof StagedoorError) || error.code !== 'playbook_invalid') throw error
  const { playbook, problems: all } = error.details
  if (!Array.isArray(all) || all.length < 2) throw error
  throw new StagedoorError('playbook_invalid', error.details, {
    message: `${playbook} cannot be used: ${all.join('; ')}`,
    hint: error.hint,
  })
}
