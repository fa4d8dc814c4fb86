/** OpenAPI 3.1 from the routes' schemas, and a page to read it. */
import { createHash } from 'node:crypto'
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
    page.addHook('onSend', async (_request, reply, payload) => {
      reply.header('content-security-policy', policyOf(payload))
      return payload
    })
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      // Its policy is made of the text of the page.
      if (route.url === '/api/docs/') Object.assign(route, { compress: false })
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

const INLINE_SCRIPT = /<script type="text\/javascript">(.*?)<\/script>/gs

/**
 * Of the reference page, which is on the origin of the console: the scripts that it was served with run, by their digest, and no others. It
 * makes styles while it runs, and a style has no digest before it is made.
 */
function policyOf(page: unknown): string {
  const scripts = typeof page === 'string' ? [...page.matchAll(INLINE_SCRIPT)] : []
  const digests = scripts.map(
    ([, script]) => ` 'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  )
  return [
    "default-src 'self'",
    `script-src 'self'${digests.join('')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
