/** The migrated database that test files clone, and the logins that they use. Roles belong to the whole server. */
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { migrate } from '../../src/kernel/postgres/migrate/migrate.ts'

export const TEMPLATE = 'stagedoor_template'
export const PASSWORD = 'for-tests-only'
export const MIGRATOR = 'stagedoor_migrator'

/** As on managed Postgres, migrations run without superuser. */
export async function prepareTemplate(superuserUrl: string): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    await client.query(`create role ${MIGRATOR} login createrole password '${PASSWORD}'`)
    await client.query(`create database ${TEMPLATE} owner ${MIGRATOR}`)
  })
  await migrate({ url: loginUrl(superuserUrl, MIGRATOR, TEMPLATE) })
  await withClient(superuserUrl, async (client) => {
    for (const login of ['stagedoor_api', 'stagedoor_worker', 'stagedoor_playbook', 'stagedoor_proposer']) {
      await client.query(`alter role ${login} password '${PASSWORD}'`)
    }
    // Nobody connects to a template: a session in it would block every clone.
    await client.query(`alter database ${TEMPLATE} is_template true allow_connections false`)
  })
}

export function loginUrl(superuserUrl: string, login: string, database: string): string {
  const url = new URL(superuserUrl)
  url.pathname = `/${database}`
  if (login !== 'postgres') {
    url.username = login
    url.password = PASSWORD
  }
  return url.toString()
}
