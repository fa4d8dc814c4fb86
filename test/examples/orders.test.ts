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
const home = temporaryHome('example-orders')
let reviewer: Member
let address: string

beforeAll(async () => {
  reviewer = await createMember(db, await createWorkspace(db, 'Acme Wholesale'), 'reviewer')
  address = await api.listen()
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true, 'the example')`)
})

async function run() {
  const script = fileURLToPath(new URL('../../examples/orders/run.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: db.url('stagedoor_api'),
      DATABASE_DIRECT_URL: db.url(MIGRATOR),
      STAGEDOOR_HOME: home,
      API_URL: address,
      REVIEWER_TOKEN: await api.token({ ...reviewer, role: 'authenticated' }),
    },
  })
  return stdout
}

it('a dataset of one’s own, from its registration to the undo, as its README says', async () => {
  const first = await run()
  expect(first).toMatch(
    /^check {4}Stagedoor may not insert shop\.orders → grant insert on shop\.orders to workflow_admin;$/m,
  )
  expect(first).toMatch(/^read {5}9 lines, 1 wrong, 1 with a warning$/m)
  expect(first).toMatch(/^problem {2}line 8, Qty “0”: Quantity is below 1\.$/m)
  expect(first).toMatch(/^refused {2}approval_missing: /m)
  expect(first).toMatch(/^refused {2}staging_own_record: /m)
  expect(first).toMatch(/^promote {2}9 order lines are in shop\.order_lines$/m)
  expect(first).toMatch(new RegExp(`^lineage  line 8 of orders\\.csv, approved by ${reviewer.userId}$`, 'm'))
  expect(first).toMatch(/^undo {5}.*"order_line":\{"reversed":9\}.*; 0 order lines are left$/m)

  const second = await run()
  expect(second, 'what was granted stays granted').not.toMatch(/^check/m)
  expect(second, 'what was undone may come again').toMatch(/^undo .*; 0 order lines are left$/m)
})
