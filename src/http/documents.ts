/** Documents that were cut into units. */
import { Type, Uuid } from '../kernel/schema.ts'
import { listDocuments, readDocument } from '../units/cut.ts'
import { DocumentDetail, KnownDocument } from '../units/shapes.ts'
import { After, Limit, limit, listPage, page, routes } from './routes.ts'

export const documentRoutes = routes('documents', (api) => {
  api.get('/', {
    operationId: 'listDocuments',
    replica: true,
    summary: 'Documents of your workspaces that were cut, newest first',
    query: { workspace_id: Type.Optional(Uuid), limit: Limit, after: After },
    answer: page('documents', KnownDocument),
    handle: (request) =>
      listPage(request.query, 'documents', 'document_id', ({ workspace_id: workspaceId, ...page }) =>
        request.transaction((client) => listDocuments(client, { ...page, workspaceId })),
      ),
  })

  api.get('/:id', {
    operationId: 'getDocument',
    replica: true,
    summary: 'A document with its text, and which unit holds which of its pieces, page by page',
    query: { limit: limit(1000, 1000), after: After },
    answer: DocumentDetail,
    problems: [404],
    handle: (request) =>
      request.transaction((client) => readDocument(client, request.params.id, request.query)),
  })
})
