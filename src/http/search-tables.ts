/** Tables of the user in search: people see, review and activate them. Adding one needs an administrator of the database. */
import { Type } from '../kernel/schema.ts'
import { SearchTable } from '../search/shapes.ts'
import {
  activateSearchTable,
  listSearchTables,
  requireSearchTable,
  reviewSearchTable,
} from '../search/tables.ts'
import type { Routes } from './routes.ts'

const params = { table: Type.String({ maxLength: 200, description: 'its code, or its name as in SQL' }) }
const problems = [403, 404, 409, 422] as const

export function tableRoutes(api: Routes): void {
  api.get('/tables', {
    operationId: 'listSearchTables',
    summary: 'Your own tables in search, and how far their rows are read',
    description: 'Added by an administrator of the database: `stagedoor search add-table`.',
    answer: Type.Object({ tables: Type.Array(SearchTable) }),
    problems: [403],
    handle: async (request) => ({ tables: await request.transaction(listSearchTables) }),
  })

  api.get('/tables/:table', {
    operationId: 'getSearchTable',
    summary: 'One table in search',
    params,
    answer: SearchTable,
    problems: [403, 404],
    handle: (request) => request.transaction((client) => requireSearchTable(client, request.params.table)),
  })

  api.post('/tables/:table/review', {
    operationId: 'reviewSearchTable',
    summary: 'Say that you have looked at what is read of a table and agree',
    description:
      'Anybody with the right to review, except the one who added it. It reviews the four routes of the table.',
    params,
    optionalBody: {
      evidence: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'how many lines of each route you looked at',
        }),
      ),
    },
    answer: SearchTable,
    problems,
    handle: (request) =>
      request.decide(async (client) => {
        const { code } = await requireSearchTable(client, request.params.table)
        await reviewSearchTable(client, code, { evidence: request.body?.evidence })
        return requireSearchTable(client, code)
      }),
  })

  api.post('/tables/:table/activate', {
    operationId: 'activateSearchTable',
    summary: 'Let a reviewed table be searched: its rows are read, and every change from now on',
    params,
    answer: SearchTable,
    problems,
    handle: (request) =>
      request.decide(async (client) => {
        const { code } = await requireSearchTable(client, request.params.table)
        await activateSearchTable(client, code)
        return requireSearchTable(client, code)
      }),
  })
}
