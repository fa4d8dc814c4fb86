/** The documentation that comes with this version, for the console: pages as Markdown, pictures, and a search over them. */
import { CONTENTS_PAGE, createDocs, DocsHit, DocsPage, DocsPageText } from '../app/docs.ts'
import { Type } from '../kernel/schema.ts'
import { limit, routes } from './routes.ts'

export const docsRoutes = () => {
  const docs = createDocs()
  return routes('docs', (api) => {
    api.get('/docs-pages', {
      operationId: 'listDocsPages',
      summary: 'The pages of the documentation, in the order of its contents',
      answer: Type.Object({ pages: Type.Array(DocsPage) }),
      handle: async () => ({ pages: docs.list() }),
    })

    api.get('/docs-pages/:page', {
      operationId: 'getDocsPage',
      summary: `A page of the documentation as Markdown; \`${CONTENTS_PAGE}\` is the page of contents`,
      params: { page: Type.String({ maxLength: 100, examples: ['tutorial'] }) },
      answer: DocsPageText,
      problems: [404],
      handle: async (request) => docs.page(request.params.page),
    })

    api.get('/docs-search', {
      operationId: 'searchDocs',
      summary: 'Find words in the documentation; never mixed with the units and documents of a workspace',
      query: {
        q: Type.String({ minLength: 1, maxLength: 1000, description: 'words, "a phrase", begin*' }),
        limit: limit(50, 10),
      },
      answer: Type.Object({ hits: Type.Array(DocsHit) }),
      handle: async (request) => {
        const { q, limit } = request.query
        // PostgreSQL takes no NUL.
        const question = q.replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
        return { hits: await request.transaction((client) => docs.search(client, question, limit)) }
      },
    })

    api.get('/docs-images/:name', {
      operationId: 'getDocsImage',
      summary: 'A picture of the documentation',
      params: { name: Type.String({ maxLength: 100, examples: ['upload.png'] }) },
      // A browser sends no token with <img>, and the pictures are those of the published package.
      config: { public: true },
      problems: [404],
      schema: {
        response: {
          200: {
            description: 'the picture',
            content: {
              'image/png': { schema: { type: 'string', format: 'binary' } },
              'image/svg+xml': { schema: { type: 'string' } },
            },
          },
        },
      },
      handle: async (request, reply) =>
        reply
          .type(request.params.name.endsWith('.svg') ? 'image/svg+xml' : 'image/png')
          .header('cache-control', 'public, max-age=3600')
          .send(docs.image(request.params.name)),
    })
  })
}
