/** What the console asks about everything at once: find by name or id, and the numbers of the overview. */
import { Found, find, MAX_QUERY } from '../app/find.ts'
import { Overview, readOverview } from '../app/overview.ts'
import { Type } from '../kernel/schema.ts'
import { routes } from './routes.ts'

export const findRoutes = routes('find', (api) => {
  api.get('/find', {
    operationId: 'find',
    replica: true,
    summary: 'Anything by its name or id: a few of each kind that you may see',
    description:
      'A part of the name of an upload, record, unit, playbook or dataset, or the id of anything. Names are looked for among the newest 10,000 of a kind.',
    query: {
      q: Type.String({ minLength: 1, maxLength: MAX_QUERY, description: 'a part of a name, or an id' }),
    },
    answer: Type.Object({ found: Type.Array(Found) }),
    handle: async (request) => ({
      found: await request.transaction((client) => find(client, request.query.q)),
    }),
  })

  api.get('/overview', {
    operationId: 'getOverview',
    replica: true,
    summary: 'What came lately and what has waited longest, as far as you may see',
    answer: Overview,
    handle: (request) => request.transaction(readOverview),
  })
})
