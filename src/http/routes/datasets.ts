/** Datasets: what files may mean, whose data they are, and what was said about their headers. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Client } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { titleOf } from '../../ingest/datasets/dataset.ts'
import { listClients, listDatasets, requireDataset } from '../../ingest/datasets/registry.ts'
import { readMapping, writeMapping } from '../../ingest/mappings.ts'
import { invalidInput } from '../invalid-input.ts'
import { problems } from '../responses.ts'
import { workspaceOf } from './uploads/options.ts'

const workspace_id = Type.Optional(
  Type.String({ format: 'uuid', description: 'may be left out by whoever has exactly one' }),
)
const DatasetName = Type.Object({ dataset: Type.String({ maxLength: 63, examples: ['ads'] }) })
const platform = Type.String({ maxLength: 63, examples: ['meta'] })
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1000 })
const mapping = {
  headers: Type.Record(Type.String(), textOrNull, {
    description: 'header → field; null leaves the column out',
    examples: [{ Kosten: 'spend', Notes: null }],
  }),
  field_values: Type.Record(Type.String(), Type.Record(Type.String(), textOrNull), {
    description: 'field → value in the file → value to take',
  }),
}
const Mapping = Type.Object({
  ...mapping,
  fields: Type.Array(
    Type.Object({
      field: Type.String(),
      title: Type.String(),
      type: Type.String(),
      required: Type.Boolean(),
    }),
  ),
})

const RegisteredDataset = Type.Object({
  dataset: Type.String(),
  title: Type.String(),
  version: Type.Integer(),
  approval_required: Type.Boolean(),
  undo_window: Type.String({ examples: ['30 days'] }),
  platforms: Type.Array(Type.Object({ platform: Type.String(), title: Type.String() })),
  row_types: Type.Array(Type.Object({ row_type: Type.String(), target: Type.String() })),
  has_clients: Type.Boolean(),
})

export const datasetRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listDatasets',
        summary: 'What files can be uploaded',
        tags: ['datasets'],
        querystring: Type.Object({ workspace_id }, { additionalProperties: false }),
        response: {
          200: Type.Object({ datasets: Type.Array(RegisteredDataset) }),
          ...problems(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { workspace_id } = request.query
      const datasets = await request.transaction(async (client) => {
        if (workspace_id !== undefined) await requireReader(client, workspace_id)
        return listDatasets(client)
      })
      return {
        datasets: datasets.map(({ definition, registered_by, registered_at, ...dataset }) => ({
          ...dataset,
          platforms: Object.entries(definition.platforms).map(([platform, { title }]) => ({
            platform,
            title,
          })),
          row_types: definition.rows.map(({ name, target }) => ({ row_type: name, target })),
          has_clients: definition.client !== undefined && definition.client !== null,
        })),
      }
    },
  )

  api.get(
    '/:dataset/clients',
    {
      schema: {
        operationId: 'listDatasetClients',
        summary: 'The clients of a workspace; none where the dataset has none',
        tags: ['datasets'],
        params: DatasetName,
        querystring: Type.Object({ workspace_id }, { additionalProperties: false }),
        response: {
          200: Type.Object({ clients: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })) }),
          ...problems(400, 401, 403, 404),
        },
      },
    },
    async (request) => {
      const { dataset } = request.params
      const clients = await request.transaction(async (client) => {
        const workspace = await workspaceOf(client, request.query.workspace_id)
        await requireReader(client, workspace)
        const found = (await listDatasets(client)).find((registered) => registered.dataset === dataset)
        if (!found) {
          const message = `There is no dataset ${dataset}`
          throw new StagedoorError('dataset_unknown', { dataset }, { message })
        }
        return listClients(client, found.definition, workspace)
      })
      return { clients: clients.map(({ id, name }) => ({ id, name: name ?? id })) }
    },
  )

  api.get(
    '/:dataset/mapping',
    {
      schema: {
        operationId: 'getDatasetMapping',
        summary: 'What was said about headers and values, and the fields that there are',
        tags: ['datasets'],
        params: DatasetName,
        querystring: Type.Object({ workspace_id, platform }, { additionalProperties: false }),
        response: { 200: Mapping, ...problems(400, 401, 403, 404) },
      },
    },
    (request) => {
      const { workspace_id, platform } = request.query
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        await requireReader(client, workspace)
        return answerMapping(client, workspace, request.params.dataset, platform)
      })
    },
  )

  api.put(
    '/:dataset/mapping',
    {
      schema: {
        operationId: 'setDatasetMapping',
        summary: 'Say what headers and values mean; remembered for the next files of the workspace',
        tags: ['datasets'],
        params: DatasetName,
        body: Type.Object({ workspace_id, platform, ...mapping }, { additionalProperties: false }),
        response: { 200: Mapping, ...problems(400, 401, 403, 404) },
      },
    },
    (request) => {
      const { dataset } = request.params
      const { workspace_id, platform, headers, field_values } = request.body
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        await writeMapping(client, workspace, dataset, platform, { headers, field_values })
        return answerMapping(client, workspace, dataset, platform)
      })
    },
  )
}

async function requireReader(client: Client, workspace: string): Promise<void> {
  await client.query(`select iu_core.require_member($1, 'read')`, [workspace])
}

async function answerMapping(client: Client, workspace: string, name: string, platform: string) {
  const dataset = await requireDataset(client, name, platform)
  const { headers, field_values } = await readMapping(client, workspace, name, platform)
  const fields = Object.entries(dataset.fields).map(([field, { type, required = false }]) => ({
    field,
    title: titleOf(dataset, field),
    type,
    required,
  }))
  return { headers, field_values, fields }
}
