/** Databases for tests that migrate: empty, or a clone of one that is migrated; dropped at the end of the file. */
import { randomUUID } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { loginUrl, MIGRATOR, TEMPLATE } from './template.ts'

export interface BareDatabase {
  readonly name: string
  /** As the login that migrates; it owns the database. */
  readonly url: string
  readonly superuserUrl: string
  superuser<R>(sql: string, values?: unknown[]): Promise<R[]>
}

export function useDatabases(): (from?: 'empty' | 'migrated' | BareDatabase) => Promise<BareDatabase> {
  const server = inject('server')
  const created: string[] = []
  afterAll(() =>
    withClient(server.superuserUrl, async (client) => {
      for (const name of created) await client.query(`drop database if exists ${name} with (force)`)
    }),
  )
  return async (from = 'empty') => {
    const name = `t_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    const original = from === 'migrated' ? TEMPLATE : from === 'empty' ? 'template1' : from.name
    await withClient(server.superuserUrl, (client) =>
      client.query(`create database ${name} template ${original} owner ${MIGRATOR}`),
    )
    created.push(name)
    const superuserUrl = loginUrl(server.superuserUrl, 'postgres', name)
    return {
      name,
      url: loginUrl(server.superuserUrl, MIGRATOR, name),
      superuserUrl,
      superuser: async <R>(sql: string, values: unknown[] = []) =>
        withClient(superuserUrl, async (client) => (await client.query(sql, values)).rows as R[]),
    }
  }
}
