/** Whole servers on a test database, as `stagedoor start` runs them, in this process. */
import pino from 'pino'
import { afterAll } from 'vitest'
import { type Serving, serve } from '../../src/http/serve.ts'
import { type Config, readConfig } from '../../src/kernel/config.ts'
import { type Database, openDatabase } from '../../src/kernel/postgres/open.ts'
import { SECRET } from './api.ts'
import type { TestDatabase } from './database.ts'
import { temporaryHome } from './temporary-home.ts'

export interface TestServing extends Serving {
  readonly config: Config
  readonly database: Database
  /** The status of a path; the body is read to its end. */
  status(path: string, token?: string): Promise<number>
}

/** Starts servers that stop at the end of the file at the latest. */
export function useServers(
  db: Pick<TestDatabase, 'url'>,
): (env?: Record<string, string>, roles?: Parameters<typeof serve>[2]['roles']) => Promise<TestServing> {
  const home = temporaryHome('servers')
  const running = new Set<Serving>()
  afterAll(async () => {
    await Promise.all([...running].map((serving) => serving.stop()))
  })
  return async (env = {}, roles = {}) => {
    const config = readConfig({
      PORT: '0',
      STAGEDOOR_HOME: home,
      DATABASE_URL: db.url('stagedoor_api'),
      DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
      STAGEDOOR_JWT_SECRET: SECRET,
      ...env,
    })
    const database = await openDatabase(config, { share: false })
    const serving = await serve(config, database, { log: pino({ level: 'silent' }), roles })
    running.add(serving)
    return {
      config,
      database,
      url: serving.url,
      drain: () => serving.drain(),
      async stop() {
        running.delete(serving)
        await serving.stop()
      },
      async status(path, token) {
        const response = await fetch(`${serving.url}${path}`, {
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        })
        await response.arrayBuffer()
        return response.status
      },
    }
  }
}
