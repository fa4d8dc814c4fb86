/** A database of its own for one test file, cloned from the migrated template. */

import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { type Client, createPool, type Pool, withClient } from '../../src/kernel/postgres/connection.ts'
import { type Caller, inTransaction } from '../../src/kernel/postgres/transaction.ts'
import type { TestServer } from './servers.ts'
import { loginUrl, MIGRATOR, TEMPLATE } from './template.ts'

export type Login =
  | 'postgres'
  | 'stagedoor_api'
  | 'stagedoor_worker'
  | 'stagedoor_playbook'
  | 'stagedoor_proposer'
  | typeof MIGRATOR

export interface TestDatabase {
  readonly name: string
  readonly server: TestServer
  url(login?: Login): string
  /** Shared by the file, closed at its end. stagedoor_worker acts as dot_executor, the migrator as owner. */
  pool(login: Login): Pool
  /** A session of its own, for races; closed at the end of the file if the test does not. */
  session(login?: Login): Promise<pg.Client>
  /** One transaction as the API makes it: login stagedoor_api, the caller's role and claims. */
  as<T>(caller: Caller, work: (client: Client) => Promise<T>): Promise<T>
  /** One statement as the owner of everything. */
  owner<R extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>
}

const ROLE_OF_LOGIN: Partial<Record<Login, string>> = {
  stagedoor_worker: 'dot_executor',
  [MIGRATOR]: 'workflow_admin',
}

export function useDatabase(options: { template?: string } = {}): TestDatabase {
  const server = inject('server')
  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  const pools = new Map<Login, Pool>()
  const sessions = new Set<pg.Client>()
  let failed = false

  const database: TestDatabase = {
    name,
    server,
    url: (login = MIGRATOR) => loginUrl(server.superuserUrl, login, name),
    pool(login) {
      const role = ROLE_OF_LOGIN[login]
      const pool = pools.get(login) ?? createPool(database.url(login), { max: 20, ...(role && { role }) })
      pools.set(login, pool)
      return pool
    },
    async session(login = MIGRATOR) {
      const client = new pg.Client(database.url(login))
      client.on('error', () => {})
      await client.connect()
      const role = ROLE_OF_LOGIN[login]
      if (role) await client.query(`set role ${role}`)
      sessions.add(client)
      return client
    },
    as: (caller, work) => inTransaction(database.pool('stagedoor_api'), work, caller),
    async owner(sql, values = []) {
      return (await database.pool(MIGRATOR).query(sql, values)).rows
    },
  }

  beforeAll(async () => {
    await superuser(
      server,
      `create database ${name} template ${options.template ?? TEMPLATE} owner ${MIGRATOR}`,
    )
  })
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail'
  })
  afterAll(async () => {
    await Promise.all([...sessions].map((session) => session.end()))
    await Promise.all([...pools.values()].map((pool) => pool.end()))
    const leaked = await leakedSessions(server, name)
    if (failed || process.env.STAGEDOOR_TEST_KEEP) {
      const file = basename(expect.getState().testPath ?? '')
      appendFileSync(server.keptList, `${name} on PostgreSQL ${server.version} (${file})\n`)
    } else {
      await superuser(server, `drop database if exists ${name} with (force)`)
    }
    if (leaked.length > 0) throw new Error(`connections left open: ${leaked.join(', ')}`)
  })
  return database
}

/** Sessions end a moment after the client has gone: ask again until they have, or too long has passed. */
async function leakedSessions(server: TestServer, name: string): Promise<string[]> {
  return withClient(server.superuserUrl, async (client) => {
    const deadline = Date.now() + 30_000
    for (;;) {
      const { rows } = await client.query<{ session: string }>(
        `select concat_ws(' ', usename, application_name, state, left(query, 80)) as session
           from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
        [name],
      )
      if (rows.length === 0 || Date.now() > deadline) return rows.map((row) => row.session)
      await delay(5)
    }
  })
}

async function superuser(server: TestServer, sql: string): Promise<void> {
  await withClient(server.superuserUrl, (client) => client.query(sql))
}
