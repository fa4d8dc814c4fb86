/** Datasets: what files may mean, and whose data they are. What was said about their headers is in dataset-mapping.ts. */

import {
  checkRegisteredDataset,
  listClients,
  listDatasets,
  type RegisteredDataset,
  takesFiles,
} from '../ingest/datasets/registry.ts'
import { DatasetSummary } from '../ingest/mapping-shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { JsonObject, shape, Text, TextOrNull, Timestamp, Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { mappingRoutes } from './dataset-mapping.ts'
import { DatasetName, routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'

const workspace_id = Workspace

export function datasetRoutes({ ingest }: Pick<ApiContext, 'ingest'>) {
  return routes('datasets', async (api) => {
    api.get('/', {
      operationId: 'listDatasets',
      replica: true,
      summary: 'What files can be uploaded',
      query: { workspace_id },
      answer: Type.Object({ datasets: Type.Array(DatasetSummary) }),
      problems: [403],
      handle: async (request) => {
        const { workspace_id } = request.query
        const datasets = await request.transaction(async (client) => {
          if (workspace_id !== undefined) await requireReader(client, workspace_id)
          return listDatasets(client, workspace_id)
        })
        return { datasets: datasets.map(summaryOf) }
      },
    })

    api.get('/:dataset', {
      operationId: 'getDataset',
      replica: true,
      summary: 'One dataset with its declaration: fields, rules, tables',
      params: DatasetName,
      query: { workspace_id },
      answer: shape('DatasetDetail', {
        ...DatasetSummary.properties,
        registered_by: Text,
        registered_at: Timestamp,
        definition: JsonObject,
      }),
      problems: [403, 404],
      handle: (request) =>
        request.transaction(async (client) => {
          const { workspace_id } = request.query
          const found = await requireRegistered(client, request.params.dataset, workspace_id)
          const { definition, registered_by, registered_at } = found
          return { ...summaryOf(found), registered_by, registered_at, definition: { ...definition } }
        }),
    })

    api.get('/:dataset/check', {
      operationId: 'checkDataset',
      summary: 'Whether the tables still fit the declaration, and what to do if not; for whoever operates',
      params: DatasetName,
      query: { workspace_id },
      answer: Type.Object({
        problems: Type.Array(shape('DatasetProblem', { problem: Text, remedy: TextOrNull })),
      }),
      problems: [403, 404],
      handle: (request) =>
        request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          return { problems: await checkRegisteredDataset(client, request.params.dataset, workspace) }
        }),
    })

    api.get('/:dataset/clients', {
      operationId: 'listDatasetClients',
      replica: true,
      summary: 'The clients of a workspace; none where the dataset has none',
      params: DatasetName,
      query: { workspace_id },
      answer: Type.Object({ clients: Type.Array(shape('DatasetClient', { id: Text, name: Text })) }),
      problems: [403, 404],
      handle: async (request) => {
        const { dataset } = request.params
        const clients = await request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          const found = await requireRegistered(client, dataset, workspace)
          return listClients(client, found.definition, workspace)
        })
        return { clients: clients.map(({ id, name }) => ({ id, name: name ?? id })) }
      },
    })
    await api.fastify.register(mappingRoutes(ingest))
  })
}

function summaryOf({ definition, registered_by, registered_at, ...dataset }: RegisteredDataset) {
  return {
    ...dataset,
    platforms: Object.entries(definition.platforms).map(([platform, { title }]) => ({ platform, title })),
    row_types: definition.rows.map(({ name, target, key, columns }) => ({
      row_type: name,
      target,
      key: key.filter((column) => columns[column] !== '$workspace'),
    })),
    has_clients: definition.client !== undefined && definition.client !== null,
    takes: takesFiles(definition) ? ('files' as const) : ('statements' as const),
  }
}

async function requireRegistered(
  client: Client,
  dataset: string,
  given: string | undefined,
): Promise<RegisteredDataset> {
  const workspace = await workspaceOf(client, given)
  await requireReader(client, workspace)
  const found = (await listDatasets(client, workspace)).find((registered) => registered.dataset === dataset)
  if (found) return found
  throw new StagedoorError('dataset_unknown', { dataset }, { message: `There is no dataset ${dataset}` })
}

export async function requireReader(client: Client, workspace: string): Promise<void> {
  await client.query(`select iu_core.require_member($1, 'read')`, [workspace])
}
