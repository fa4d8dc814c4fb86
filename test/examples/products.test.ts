/** The example of an ordinary table, from `init` to the undo, with the commands of its README. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('example-products')
const example = (name: string) => fileURLToPath(new URL(`../../examples/products/${name}`, import.meta.url))
const products = () => db.owner('select * from public.products order by id')
let reviewer: Member

beforeAll(async () => {
  const workspace = await createWorkspace(db, 'Shop')
  await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(readFileSync(example('tables.sql'), 'utf8'))
})

async function cli(...args: string[]) {
  const result = await runCli(args, {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
  })
  return { ...result, output: `${result.stdout}${result.stderr}` }
}

it('a supplier’s price list goes into an identity table, is repaired, promoted, traced and undone', async () => {
  const before = await products()
  const output = join(home, 'products.dataset.json')
  const init = await cli('init', 'public.products', example('products.xlsx'), '--output', output, '--yes')
  expect(init.output).toMatch(/Kategorie +→ +category_id +looked up in public\.categories by name +sure/)
  expect(init.output).toMatch(/products +9 +212 +2$/m)
  expect(init.code).toBe(0)
  expect(await products()).toEqual(before)

  const refused = await cli('ingest', example('products.xlsx'))
  expect(refused).toMatchObject({ code: 5, output: expect.stringContaining('2 of 223 lines are invalid') })
  expect(refused.output).toContain('Nearest: Garten')
  const list = JSON.parse((await cli('upload', 'list', '--json')).stdout)
  const id: string = (list.uploads ?? list)[0].upload_id
  await cli('upload', 'repair', id, '--fill', 'Preis=99,00 €', '--lines', '214')
  const repaired = await cli('upload', 'repair', id, '--column', 'Kategorie', '--replace', 'Gartn=Garten')
  expect(repaired.output).toMatch(/products +9 +214$/m)

  const submitted = await cli('upload', 'submit', id)
  expect(submitted.code).toBe(0)
  const { plan_digest: digest } = JSON.parse((await cli('upload', 'show', id, '--json')).stdout)
  await db.as(reviewer, (client) =>
    client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [id, digest, ['changes']]),
  )
  expect((await cli('upload', 'promote', id)).output).toMatch(/Promoted/)
  expect(await products()).toHaveLength(309)
  const traced = await cli('lineage', 'public.products', '--key', '{"sku": "P-0005"}')
  expect(traced.output).toContain('line 6 of products.xlsx')

  await db.as(reviewer, (client) => client.query('select iu_core.fn_ingest_undo($1)', [id]))
  expect(await products()).toEqual(before)
})
