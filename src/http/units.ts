/** Units: members of their workspace read them, those who may operate write them, those who may review decide. */
import type { FastifyRequest } from 'fastify'
import { actorNames } from '../access/members.ts'
import { readCallerRights } from '../gates/caller-rights.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { JsonObject, nullable, shape, Text, TextOrNull, Type, Uuid } from '../kernel/schema.ts'
import { addEdge, deleteEdge, unitEdges } from '../units/edges.ts'
import { diffUnit, unitHistory } from '../units/history.ts'
import {
  changeKind,
  deleteUnit,
  enactUnit,
  mergeUnits,
  restoreUnit,
  retireUnit,
  splitUnit,
  supersedeUnit,
} from '../units/lifecycle.ts'
import { UnitPermissions, unitPermissions } from '../units/permissions.ts'
import {
  AddedEdge,
  CreatedUnit,
  Edge,
  EditedUnit,
  LIFECYCLE_STATUSES,
  ListedUnit,
  UnitContext,
  UnitDetail,
  UnitDiff,
  UnitHistory,
  UnitKind,
} from '../units/shapes.ts'
import {
  changeProfile,
  createUnit,
  createUnits,
  editSlice,
  editUnit,
  listUnitKinds,
  listUnits,
  moveUnit,
  readUnit,
  reorderUnits,
  unitContext,
  unitPeople,
  withConflictDiff,
} from '../units/units.ts'
import { workspaceOf } from './access.ts'
import { TEXT_LIMIT } from './request-limits.ts'
import { ActorNames } from './responses.ts'
import { After, Limit, limit, listPage, page, Reason, type Routes, routes, Workspace } from './routes.ts'

const BATCH_LIMIT = 64 * 1024 ** 2
const EXACT = { additionalProperties: false }
const MANY = { minItems: 2, maxItems: 1000 }

const Address = Type.String({
  minLength: 1,
  maxLength: 400,
  description: 'for good, and once in the workspace',
  examples: ['handbook/leave'],
})
const Kind = Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$', examples: ['section'] })
const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Position = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'default: the last' }),
)
const AprRef = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'the approval that says so',
  examples: ['APR-2026-114'],
})
const newUnit = {
  canonical_address: Address,
  body: Type.String({ description: 'between one character and 1 MiB' }),
  title: Type.Optional(Type.String({ maxLength: 500, description: 'default: the first heading or line' })),
  unit_kind: Type.Optional(Kind),
  language: Type.Optional(Type.String({ maxLength: 35, examples: ['en'] })),
  container_id: Type.Optional(Uuid),
  source_ref: Type.Optional(Type.String({ maxLength: 2000 })),
  profile: Type.Optional(JsonObject),
}

export const unitRoutes = routes('units', (api) => {
  readRoutes(api)
  writeRoutes(api)
  lifecycleRoutes(api)
})

function readRoutes(api: Routes): void {
  api.get('/', {
    operationId: 'listUnits',
    replica: true,
    summary: 'Units of your workspaces by workspace and address; those of a container in their order',
    query: {
      workspace_id: Type.Optional(Uuid),
      address: Type.Optional(Address),
      under: Type.Optional(Type.String({ maxLength: 400, description: 'the address of a branch' })),
      container_id: Type.Optional(Uuid),
      kind: Type.Optional(Kind),
      status: Type.Optional(Type.Enum([...LIFECYCLE_STATUSES])),
      topic: Type.Optional(Type.String({ maxLength: 63 })),
      text: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'part of the title or of the address' }),
      ),
      top: Type.Boolean({ default: false, description: 'only units that are in no other' }),
      conformance: Type.Optional(Type.Enum(['conforms', 'deviates'])),
      drift: Type.Optional(Type.Enum(['none', 'drifted'])),
      deleted: Type.Boolean({ default: false, description: 'only the deleted ones' }),
      limit: Limit,
      after: After,
    },
    answer: page('units', ListedUnit),
    handle: (request) =>
      listPage(
        request.query,
        'units',
        'unit_id',
        ({ workspace_id: workspaceId, container_id: containerId, ...filter }) =>
          request.transaction((client) => listUnits(client, { ...filter, workspaceId, containerId })),
      ),
  })

  api.get('/kinds', {
    operationId: 'listUnitKinds',
    replica: true,
    summary: 'What a unit can be, and what its profile needs then',
    answer: Type.Object({ kinds: Type.Array(UnitKind) }),
    handle: async (request) => ({ kinds: await request.transaction(listUnitKinds) }),
  })

  api.get('/:id', {
    operationId: 'getUnit',
    replica: true,
    summary: 'A unit with its text: the current one, that of a version, or that of a time',
    query: {
      version: Type.Optional(Version),
      as_of: Type.Optional(
        Type.String({ format: 'date-time', description: 'as it was then; not with version' }),
      ),
    },
    answer: UnitDetail,
    problems: [404],
    handle: (request) => {
      const { version, as_of } = request.query
      const moment = {
        ...(version !== undefined && { version }),
        ...(as_of !== undefined && { asOf: new Date(as_of) }),
      }
      return request.transaction((client) => readUnit(client, { unit_id: request.params.id }, moment))
    },
  })

  api.get('/:id/context', {
    operationId: 'getUnitContext',
    replica: true,
    summary: 'Where a unit stands, which document it comes from, and what you may do with it now',
    answer: shape('UnitContextDetail', {
      ...UnitContext.properties,
      may: UnitPermissions,
      people: ActorNames,
    }),
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { id: unit_id } = request.params
        const unit = await readUnit(client, { unit_id })
        const caller = await readCallerRights(client, unit.workspace_id, request.principal!)
        return {
          ...(await unitContext(client, unit_id)),
          may: unitPermissions(unit, caller),
          people: await actorNames(client, await unitPeople(client, unit_id)),
        }
      }),
  })

  api.get('/:id/history', {
    operationId: 'getUnitHistory',
    replica: true,
    summary: 'The versions of a unit and the changes of its status, newest first',
    query: {
      limit: limit(1000, 100),
      before: Type.Optional(Version),
      lifecycle_before: Type.Optional(
        Type.String({ format: 'uuid', description: 'the log_id of the last change of the page before' }),
      ),
    },
    answer: UnitHistory,
    problems: [404],
    handle: (request) => {
      const { lifecycle_before: lifecycleBefore, ...page } = request.query
      return request.transaction((client) =>
        unitHistory(client, request.params.id, {
          ...page,
          ...(lifecycleBefore !== undefined && { lifecycleBefore }),
        }),
      )
    },
  })

  api.get('/:id/diff', {
    operationId: 'diffUnit',
    replica: true,
    summary: 'From one version to another; by default what the current one changed',
    query: { from: Type.Optional(Version), to: Type.Optional(Version) },
    answer: UnitDiff,
    problems: [404],
    handle: (request) => request.transaction((client) => diffUnit(client, request.params.id, request.query)),
  })

  api.get('/:id/edges', {
    operationId: 'listUnitEdges',
    replica: true,
    summary: 'The edges from a unit and to it, by type and target',
    query: { limit: limit(1000, 200), after: After },
    answer: Type.Object({ out: Type.Array(Edge), in: Type.Array(Edge), next: TextOrNull }),
    problems: [404],
    handle: (request) => request.transaction((client) => unitEdges(client, request.params.id, request.query)),
  })
}

const CONFLICT =
  'If the unit is no longer at expected_version nothing is written: 409 with both hashes and the diff between the two in `details`.'
const problems = [403, 404, 409, 422] as const
/** They take text, so what they need is asked before it is read. */
const takesText = { bodyLimit: TEXT_LIMIT, config: { right: 'operate' } } as const

function writeRoutes(api: Routes): void {
  api.post('/', {
    operationId: 'createUnit',
    summary: 'Create a unit: a draft in version 1',
    body: { workspace_id: Workspace, ...newUnit },
    example: { canonical_address: 'handbook/leave', body: '# Leave\n\n28 days.' },
    answer: CreatedUnit,
    status: 201,
    problems: [...problems, 413],
    ...takesText,
    handle: (request) => {
      const { workspace_id, ...unit } = request.body
      return request.transaction(async (client) =>
        createUnit(client, await workspaceOf(client, workspace_id), unit),
      )
    },
  })

  api.post('/batch', {
    operationId: 'createUnits',
    summary: 'Create many units, all of them or none',
    body: {
      workspace_id: Workspace,
      units: Type.Array(shape('NewUnit', { ...newUnit, position: Position }, EXACT), {
        minItems: 1,
        maxItems: 10_000,
      }),
    },
    answer: Type.Object({
      units: Type.Array(shape('UnitAddress', { unit_id: Text, canonical_address: Text })),
    }),
    status: 201,
    problems: [...problems, 413],
    ...takesText,
    bodyLimit: BATCH_LIMIT,
    handle: async (request) => {
      const { workspace_id, units } = request.body
      return {
        units: await request.transaction(async (client) =>
          createUnits(client, await workspaceOf(client, workspace_id), units),
        ),
      }
    },
  })

  api.patch('/:id', {
    operationId: 'updateUnit',
    summary: 'A new version of a draft',
    description: CONFLICT,
    body: {
      expected_version: Version,
      body: Type.Optional(Text),
      title: Type.Optional(Type.String({ maxLength: 500 })),
      language: Type.Optional(Type.String({ maxLength: 35 })),
      note: Reason,
    },
    example: { expected_version: 1, body: '# Leave\n\n30 days.', note: 'agreed on Monday' },
    answer: EditedUnit,
    problems: [...problems, 413],
    ...takesText,
    handle: (request) =>
      withConflictDiff(request.transaction.bind(request), (client) =>
        editUnit(client, request.params.id, request.body),
      ),
  })

  api.patch('/:id/slice', {
    operationId: 'updateUnitSlice',
    summary: 'A new version of a draft, in which a part of the text is replaced',
    description: `Characters count from 0, \`to\` is not part of it, the same twice inserts. ${CONFLICT}`,
    body: {
      expected_version: Version,
      from: Type.Integer(),
      to: Type.Integer(),
      text: Text,
      note: Reason,
    },
    example: { expected_version: 2, from: 9, to: 11, text: '30' },
    answer: EditedUnit,
    problems: [...problems, 413],
    ...takesText,
    handle: (request) =>
      withConflictDiff(request.transaction.bind(request), (client) =>
        editSlice(client, request.params.id, request.body),
      ),
  })

  api.patch('/:id/profile', {
    operationId: 'updateUnitProfile',
    summary: 'Merge into the profile, at its top level; null removes a key',
    description: '`topic_labels` come from the topics of the workspace. Answers the whole profile.',
    answer: JsonObject,
    problems,
    schema: {
      body: { ...JsonObject, examples: [{ topic_labels: ['leave'], summary: 'How many days' }] },
    },
    handle: (request) =>
      request.transaction((client) =>
        changeProfile(client, request.params.id, request.body as Record<string, unknown>),
      ),
  })

  api.post('/:id/edges', {
    operationId: 'addUnitEdge',
    summary: 'An edge to another unit, or to whatever a reference names',
    description: 'What is not there (yet) is `unverified`; the checker looks again.',
    body: {
      edge_type: Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$', examples: ['explains'] }),
      target: Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'an address in the same workspace, the id of a unit, or any other reference',
      }),
    },
    example: { edge_type: 'explains', target: 'handbook/leave' },
    answer: AddedEdge,
    problems,
    handle: (request) => request.transaction((client) => addEdge(client, request.params.id, request.body)),
  })

  api.delete('/edges/:edge', {
    operationId: 'deleteUnitEdge',
    summary: 'Delete an edge',
    params: { edge: Uuid },
    problems,
    handle: (request) => request.transaction((client) => deleteEdge(client, request.params.edge)),
  })

  api.post('/:id/move', {
    operationId: 'moveUnit',
    summary: 'Into another container, or out of all',
    body: { container_id: nullable(Uuid), position: Position },
    problems,
    handle: (request) => {
      const { container_id, position } = request.body
      return request.transaction((client) => moveUnit(client, request.params.id, container_id, position))
    },
  })

  api.post('/:id/reorder', {
    operationId: 'reorderUnits',
    summary: 'The units of a container in another order',
    description: 'Exactly the units that are in it, once each.',
    body: { units: Type.Array(Uuid, { minItems: 1, maxItems: 10_000 }) },
    problems,
    handle: (request) =>
      request.transaction((client) => reorderUnits(client, request.params.id, request.body.units)),
  })
}

const part = {
  canonical_address: Type.String({ minLength: 1, maxLength: 400 }),
  body: Type.String({ minLength: 1 }),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
}
const approval = {
  apr_ref: Type.Optional(AprRef),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
}
const Successor = shape('SuccessorUnit', {
  unit_id: Text,
  canonical_address: Text,
  unit_version_id: Text,
  content_hash: Text,
})

/** A person decides for this one request; the database checks what their role may. */
function lifecycleRoutes(api: Routes): void {
  const answersUnit = { answer: UnitDetail, problems } as const

  api.post('/:id/enact', {
    operationId: 'enactUnit',
    summary: 'Put a draft into force: from now on nobody changes its text',
    description: 'For those who may review. If it is no longer at expected_version, nothing happens.',
    body: { expected_version: Version, apr_ref: AprRef },
    ...answersUnit,
    handle: (request) =>
      withConflictDiff(request.decide.bind(request), async (client) => {
        await enactUnit(client, request.params.id, request.body)
        return readUnit(client, { unit_id: request.params.id })
      }),
  })

  api.post('/:id/supersede', {
    operationId: 'supersedeUnit',
    summary: 'Another enacted unit takes the place of an enacted one',
    body: { successor: Uuid, apr_ref: AprRef },
    ...answersUnit,
    handle: (request) => decide(request, (client, id) => supersedeUnit(client, id, request.body)),
  })

  api.post('/:id/retire', {
    operationId: 'retireUnit',
    summary: 'A unit is no longer valid, and nothing takes its place',
    optionalBody: { reason: Reason },
    ...answersUnit,
    handle: (request) => decide(request, (client, id) => retireUnit(client, id, request.body?.reason)),
  })

  api.delete('/:id', {
    operationId: 'deleteUnit',
    summary: 'Delete a unit; it can be restored',
    description: 'A draft by those who may operate, anything else by those who may review.',
    query: { reason: Reason },
    ...answersUnit,
    handle: (request) => decide(request, (client, id) => deleteUnit(client, id, request.query.reason)),
  })

  api.post('/:id/restore', {
    operationId: 'restoreUnit',
    summary: 'Bring a deleted unit back as it was',
    ...answersUnit,
    handle: (request) => decide(request, restoreUnit),
  })

  api.post('/:id/change-kind', {
    operationId: 'changeUnitKind',
    summary: 'Give a unit another kind, under an approval of its own',
    body: { unit_kind: Kind, apr_ref: AprRef },
    ...answersUnit,
    handle: (request) => decide(request, (client, id) => changeKind(client, id, request.body)),
  })

  api.post('/:id/split', {
    operationId: 'splitUnit',
    summary: 'Retire a unit; two or more hold its parts, each with an edge split_from to it',
    description:
      'Drafts come of a draft. Of a unit in force come units in force, under apr_ref. For those who may review.',
    body: {
      expected_version: Version,
      parts: Type.Array(shape('UnitPart', { ...part, unit_kind: Type.Optional(Kind) }, EXACT), MANY),
      ...approval,
    },
    answer: Type.Object({ units: Type.Array(Successor) }),
    problems,
    handle: async (request) => ({
      units: await withConflictDiff(request.decide.bind(request), (client) =>
        splitUnit(client, request.params.id, request.body),
      ),
    }),
  })

  api.post('/merge', {
    operationId: 'mergeUnits',
    summary: 'Retire units; one holds their text, with edges merged_from to each',
    description:
      'A draft comes of drafts. Of units in force comes a unit in force, under apr_ref. For those who may review.',
    body: {
      units: Type.Array(shape('UnitToMerge', { unit_id: Uuid, expected_version: Version }, EXACT), {
        ...MANY,
        description: 'in the order of their texts',
      }),
      canonical_address: part.canonical_address,
      body: Type.Optional(
        Type.String({ minLength: 1, description: 'default: their texts, one after the other' }),
      ),
      title: part.title,
      ...approval,
    },
    answer: Successor,
    problems,
    handle: (request) =>
      withConflictDiff(request.decide.bind(request), (client) => mergeUnits(client, request.body)),
  })
}

/** Answers the unit after the change. */
function decide(
  request: FastifyRequest<{ Params: { id: string } }>,
  change: (client: Client, id: string) => Promise<void>,
): Promise<UnitDetail> {
  const { id } = request.params
  return request.decide(async (client) => {
    await change(client, id)
    return readUnit(client, { unit_id: id })
  })
}
