// @module-tag long
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const api = useApi(db)
const home = temporaryHome('example-handbook')
let reviewer: Member
let address: string

beforeAll(async () => {
  reviewer = await createMember(db, await createWorkspace(db, 'Northwind Media'), 'reviewer')
  address = await api.listen()
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'the example')`)
})

async function run(branch?: string, url = address) {
  const script = fileURLToPath(new URL('../../examples/handbook/run.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: db.url('stagedoor_api'),
      DATABASE_DIRECT_URL: db.url(MIGRATOR),
      STAGEDOOR_HOME: home,
      API_URL: url,
      REVIEWER_TOKEN: await api.token({ ...reviewer, role: 'authenticated' }),
      ...(branch && { BRANCH: branch }),
    },
  })
  return stdout
}

it('a handbook becomes units, and the next one touches three of them, as its README says', async () => {
  const told = await run()
  expect(told).toMatch(/^mark {6}handbook\.md: 44 pieces, 44 new, 0 changed, 0 the same$/m)
  expect(told).toMatch(/^refused {3}staging_\w+: /m)
  expect(told).toMatch(/^cut {7}in \d+ ms: 44 created, 0 versioned, 0 successors, 0 unchanged$/m)
  expect(told).toMatch(/^edit {6}handbook\/leave\/carrying-days-over is at version 2$/m)
  expect(told).toMatch(/^as of {5}version 1 still says “Up to five days”$/m)
  expect(told).toMatch(/^refused {3}unit_version_conflict: [\s\S]*^ {10}\+Up to eight days/m)
  expect(told).toMatch(/^refused {3}unit_locked: /m)
  expect(told).toMatch(/^mark {6}handbook-2027\.md: 44 pieces, 0 new, 3 changed, 41 the same$/m)
  expect(told).toMatch(/^cut {7}in \d+ ms: 0 created, 2 versioned, 1 successors, 41 unchanged$/m)
  expect(told).toMatch(/^ {10}successor handbook\/leave\/annual-leave~2$/m)
  expect(told).toMatch(/^ {10}versioned handbook\/expenses\/meals$/m)
  expect(told).toMatch(/^in force {2}28 days \(handbook\/leave\/annual-leave, enacted\)$/m)
  expect(told).toMatch(/^proposed {2}30 days \(handbook\/leave\/annual-leave~2, draft\)$/m)
  expect(told).toMatch(/^history {3}handbook\/leave\/carrying-days-over has 2 versions/m)
  expect(told).toMatch(/^search {4}handbook\/leave\/carrying-days-over, version 2, current$/m)
  expect(told).toMatch(/^search {4}pending: Shows its newest text; it is being indexed/m)
  const [{ n }] = (await db.owner<{ n: number }>(
    `select count(*)::int as n from iu_core.event_outbox where event_domain = 'birth_registry' and event_type = 'entity_born'`,
  )) as [{ n: number }]
  expect(n, 'each birth is an event').toBe(46)
  expect(await run('handbook-b'), 'a branch of its own').toMatch(/^history /m)
})

it('without an API it says which one it looked for', async () => {
  await expect(run(undefined, 'http://127.0.0.1:9')).rejects.toThrow(
    /No API answers at http:\/\/127\.0\.0\.1:9/,
  )
})
