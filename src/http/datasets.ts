/** Datasets: what files may mean, and whose data they are. What was said about their headers is in dataset-mapping.ts. */

import { listClients, listDatasets } from '../ingest/datasets/registry.ts'
import { DatasetSummary } from '../ingest/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { shape, Text, Type } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { mappingRoutes } from './dataset-mapping.ts'
import { DatasetName, routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'

const workspace_id = Workspace

export function datasetRoutes({ ingest }: Pick<ApiContext, 'ingest'>) {
  return routes('datasets', async (api) => {
    api.get('/', {
      operationId: 'listDatasets',
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
    })

    api.get('/:dataset/clients', {
      operationId: 'listDatasetClients',
      summary: 'The clients of a workspace; none where the dataset has none',
      params: DatasetName,
      query: { workspace_id },
      answer: Type.Object({ clients: Type.Array(shape('DatasetClient', { id: Text, name: Text })) }),
      problems: [403, 404],
      handle: async (request) => {
        const { dataset } = request.params
        const clients = await request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          await requireReader(client, workspace)
          const found = (await listDatasets(client, workspace)).find(
            (registered) => registered.dataset === dataset,
          )
          if (!found) {
            const message = `There is no dataset ${dataset}`
            throw new StagedoorError('dataset_unknown', { dataset }, { message })
          }
          return listClients(client, found.definition, workspace)
        })
        return { clients: clients.map(({ id, name }) => ({ id, name: name ?? id })) }
      },
    })
    await api.fastify.register(mappingRoutes(ingest))
  })
}

export async function requireReader(client: Client, workspace: string): Promise<void> {
  await client.query(`select iu_core.require_member($1, 'read')`, [workspace])
}
