import { expect, it } from 'vitest'
import { examine } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { useDatabase } from '../../../support/database.ts'
import { loginUrl, MIGRATOR } from '../../../support/template.ts'

const db = useDatabase()

async function findings(apiUrl: string) {
  return (await examine({ url: db.url(), apiUrl })).findings
}

it('is content with an API that logs in as stagedoor_api', async () => {
  expect(await findings(db.url('stagedoor_api'))).toEqual([])
})

it('refuses an API that logs in as somebody with rights of their own', async () => {
  const found = await findings(db.url(MIGRATOR))
  expect(found.map(({ problem }) => problem)).toEqual([
    'is not stagedoor_api, and the database believes the claims of no other',
    'has CREATEROLE',
    'has INHERIT',
  ])
  expect(found[0]!.remedy).toBe('Let DATABASE_URL log in as stagedoor_api.')
  expect((await findings(db.url('postgres'))).map(({ problem }) => problem)).toContain('has SUPERUSER')
})

it('notices that the API talks to another database', async () => {
  const [finding] = await findings(loginUrl(db.server.superuserUrl, 'stagedoor_api', 'postgres'))
  expect(finding).toMatchObject({ kind: 'login', problem: expect.stringContaining('another database') })
})

it('reports an API address that does not work instead of stopping at it', async () => {
  const wrong = new URL(db.url('stagedoor_api'))
  wrong.password = 'wrong'
  expect(await findings(wrong.toString())).toEqual([
    {
      kind: 'login',
      object: 'DATABASE_URL',
      problem: expect.stringContaining('refused the login'),
      remedy: expect.stringContaining('password'),
    },
  ])
})

it('stops at a direct address that does not work', async () => {
  await expect(examine({ url: 'postgres://nobody@127.0.0.1:1/none' })).rejects.toMatchObject({
    code: 'database_unreachable',
  })
})
