/**
 * One throw-away server for the PostgreSQL version of this vitest project, with a migrated template that every
 * test file clones. A file that failed keeps its database; then the server's folder stays, too.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/kernel/postgres/embedded/server.ts'
import { prepareTemplate } from './template.ts'
import { createHome } from './temporary-home.ts'

export interface TestServer {
  readonly version: 15 | 18
  readonly superuserUrl: string
  /** Files write the names of the databases that they keep here. */
  readonly keptList: string
}

declare module 'vitest' {
  interface ProvidedContext {
    server: TestServer
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const version = project.name === 'pg15' ? 15 : 18
  const home = createHome(`test-pg${version}`)
  const keptList = join(home, 'kept.txt')
  const server = await startEmbedded({
    home,
    version,
    durability: 'throwaway',
    settings: { max_connections: '300' },
  })
  await prepareTemplate(server.url())
  project.provide('server', { version, superuserUrl: server.url(), keptList })
  return async () => {
    await server.stop()
    if (!existsSync(keptList)) return rmSync(home, { recursive: true, force: true })
    console.error(
      `\nKept for you to look at:\n  ${readFileSync(keptList, 'utf8').trim().replaceAll('\n', '\n  ')}`,
    )
    console.error(`Open with: node scripts/open-test-database.mjs ${home}`)
  }
}
