/** OpenAPI 3.1 from the routes' schemas, and a page to read it. */
import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { VERSION } from '../version.ts'
import { Problem } from './problem.ts'

export async function describeApi(app: FastifyInstance): Promise<void> {
  app.addSchema(Problem)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Stagedoor',
        version: VERSION,
        description:
          'Pull requests for production data. Errors are application/problem+json with a code and a hint.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
      security: [{ token: [] }],
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema-${index}`),
    },
  })
  app.get('/api/openapi.json', { config: { public: true }, schema: { hide: true } }, () => app.swagger())
  await app.register(async (page) => {
    // The reference page brings inline scripts and styles of its own, and nothing of ours is on it.
    page.addHook('onSend', async (_request, reply) => {
      reply.header(
        'content-security-policy',
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
      )
    })
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
    })
    await page.register(reference, {
      routePrefix: '/api/docs',
      configuration: {
        url: '/api/openapi.json',
        withDefaultFonts: false,
        favicon: '/favicon.svg',
        hideClientButton: true,
        showDeveloperTools: 'never',
      },
    })
  })
}
