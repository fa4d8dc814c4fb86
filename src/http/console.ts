/** The built console: files beside the API, and its page for every path that is not a file. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { notFound, sendProblem } from './problem.ts'

const FOLDER = fileURLToPath(new URL('../../console/dist', import.meta.url))

export async function serveConsole(app: FastifyInstance): Promise<void> {
  if (!existsSync(FOLDER)) return
  await app.register(async (site) => {
    site.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
    })
    await site.register(files, {
      root: FOLDER,
      wildcard: false,
      // Its own header, max-age=0, would replace the one below.
      cacheControl: false,
      // Hashed names never change; the page that names them always may.
      setHeaders: (reply, path) => {
        reply.setHeader(
          'cache-control',
          path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
    })
    site.get('/*', { schema: { hide: true } }, (request, reply) => {
      if (!request.headers.accept?.includes('text/html'))
        return sendProblem(notFound(request), request, reply)
      return reply.header('cache-control', 'no-cache').sendFile('index.html')
    })
  })
}
