/** Servers that cannot be migrated: each a clear error with a remedy, before anything is asked or changed. */
import { createServer } from 'node:net'
import { expect, inject, it } from 'vitest'
import { migrate, planMigration } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { freePort } from '../../../support/cli.ts'
import { startFakePostgres } from '../../../support/fake-postgres.ts'

const runs = [
  ['migrate', migrate],
  ['planMigration', planMigration],
] as const

function changedUrl(change: (url: URL) => void): string {
  const url = new URL(inject('server').superuserUrl)
  change(url)
  return url.toString()
}

it.each(runs)('%s: no server at the address', async (_, run) => {
  const port = await freePort()
  await expect(run({ url: `postgres://ada:secret@127.0.0.1:${port}/app` })).rejects.toMatchObject({
    code: 'database_unreachable',
    exitCode: 4,
    retryable: true,
    message: expect.stringContaining(`127.0.0.1:${port}/app`),
    hint: expect.stringContaining('DATABASE_URL'),
  })
})

it.each(runs)('%s: a server that hangs up', async (_, run) => {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await expect(run({ url: `postgres://ada@127.0.0.1:${port}/app` })).rejects.toMatchObject({
    code: 'database_unreachable',
  })
  await new Promise((resolve) => server.close(resolve))
})

it.each(runs)('%s: a wrong password, which is not repeated', async (_, run) => {
  const url = changedUrl((it) => {
    it.password = 'not-this-one'
  })
  const refused = await run({ url }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'database_login_refused', exitCode: 4 })
  expect(JSON.stringify([refused, String(refused)])).not.toContain('not-this-one')
})

it.each(runs)('%s: a database that does not exist', async (_, run) => {
  const url = changedUrl((it) => {
    it.pathname = '/no_such_database'
  })
  await expect(run({ url })).rejects.toMatchObject({
    code: 'database_login_refused',
    message: expect.stringContaining('no_such_database'),
  })
})

it.each(runs)('%s: PostgreSQL 14, which is asked for its version and nothing else', async (_, run) => {
  const fake = await startFakePostgres({ number: 140000, text: '14.0' })
  await expect(run({ url: fake.url })).rejects.toMatchObject({
    code: 'postgres_too_old',
    exitCode: 4,
    message: expect.stringMatching(/PostgreSQL 14\.0; Stagedoor needs 15/),
    hint: expect.stringContaining('embedded PostgreSQL 18'),
  })
  expect(fake.statements).toHaveLength(1)
  await fake.close()
})
