import { afterEach, expect, it } from 'vitest'
import { examine } from '../../../../../src/kernel/postgres/doctor/doctor.ts'
import { isUpToDate, migrate } from '../../../../../src/kernel/postgres/migrate/migrate.ts'
import { detectPooling } from '../../../../../src/kernel/postgres/open.ts'
import { useDatabase } from '../../../../support/database.ts'
import { loginUrl, PASSWORD } from '../../../../support/template.ts'
import { type Pooler, startPooler } from './pgbouncer.ts'

const db = useDatabase()
const poolers: Pooler[] = []

async function pooled(mode: 'session' | 'transaction', login?: 'stagedoor_api'): Promise<string> {
  const pooler = await startPooler(db.url(login), mode)
  poolers.push(pooler)
  return pooler.url
}

afterEach(async () => {
  for (const pooler of poolers.splice(0)) await pooler.stop()
})

it('finds a direct address that is a pooler in transaction mode, and examines the rest through it', async () => {
  const url = await pooled('transaction')
  const report = await examine({ url })
  expect(report.findings).toEqual([
    {
      kind: 'pooler',
      object: `endpoint ${new URL(url).host}`,
      problem: expect.stringContaining('transaction mode'),
      remedy: expect.stringContaining('DATABASE_DIRECT_URL'),
    },
  ])
  expect(report.checked.table).toBeGreaterThan(8)
})

it('lets the API go through a pooler in transaction mode', async () => {
  const apiUrl = await pooled('transaction', 'stagedoor_api')
  expect((await examine({ url: db.url(), apiUrl })).findings).toEqual([])
})

it('only mentions a pooler in session mode', async () => {
  const report = await examine({ url: await pooled('session') })
  expect(report.findings).toEqual([])
  expect(report.notes).toContain('The direct address is a pooler in session mode, which is fine.')
})

it('sees no pooler where there is none', async () => {
  expect(await detectPooling(db.url())).toBe('none')
})

it('is refused by migrate in transaction mode, where its lock could wait for ever, and taken in session mode', async () => {
  const url = await pooled('transaction')
  await expect(migrate({ url })).rejects.toMatchObject({
    code: 'pooler_refused',
    exitCode: 3,
    details: { target: new URL(url).host },
    hint: expect.stringContaining('DATABASE_DIRECT_URL'),
  })
  expect(isUpToDate(await migrate({ url: await pooled('session') }))).toBe(true)
})

it('is unknown where the login has no connection left for a second look', async () => {
  const session = await db.session('postgres')
  await session.query(`create role lonely login connection limit 1 password '${PASSWORD}'`)
  expect(await detectPooling(loginUrl(db.server.superuserUrl, 'lonely', db.name))).toBe('unknown')
  await session.query('drop role lonely')
})
