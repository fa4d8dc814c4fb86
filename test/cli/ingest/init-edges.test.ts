import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const { home, cli, file } = useCli(db, 'cli-init-edges')

const init = (table: string, path: string, name: string, ...flags: string[]) =>
  cli('init', table, path, '--name', name, '--output', join(home, `${name}.dataset.json`), ...flags)

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(`
    create table public.items (sku text primary key, label text, price numeric);
    grant usage on schema public to workflow_admin;
    grant select, insert, update, delete on public.items to workflow_admin`)
})

describe('init on files with little in them', () => {
  it('says that a file has only headers, for a table without rows', async () => {
    const { code, stderr } = await init(
      'public.items',
      file('headers.csv', ['SKU,Label,Price', '']),
      'headers',
    )
    expect(code).toBe(2)
    expect(stderr).toContain('The file has a header but no line below it')
    expect(stderr).toContain('Check the date range and the filters of the export')
  })

  it('proposes a dataset for a table without rows', async () => {
    const path = file('first.csv', ['SKU,Label,Price', 'A,Saw,1.50', 'B,Axe,2.75'])
    expect(await init('public.items', path, 'first')).toMatchObject({ code: 0 })
  })

  it('says that a file is empty', async () => {
    const { code, stderr } = await init('public.items', file('empty.csv', ['']), 'empty')
    expect(code).toBe(2)
    expect(stderr).toMatch(/empty|no header|nothing/i)
  })

  it('refuses a header that is there twice, or tells the two apart', async () => {
    const path = file('twice.csv', ['SKU,Label,Label', 'A,Saw,Säge', 'B,Axe,Axt'])
    const { code, stdout, stderr } = await init('public.items', path, 'twice', '--no-register')
    expect({ code, said: `${stdout}${stderr}` }).toMatchObject({ said: expect.stringMatching(/Label/) })
    expect(`${stdout}${stderr}`).toMatch(/twice|repeated|several|2 times|uncertain/i)
  })
})

describe('init on unusual tables', () => {
  it('takes names with quotes', async () => {
    await db.owner(`create table public."Odd ""table""" ("the ""key""" text primary key, "it's" text);
      grant select, insert, update, delete on public."Odd ""table""" to workflow_admin`)
    const path = file('odd "file".csv', [`"the ""key""",it's`, 'A,one', 'B,two'])
    const { code, stdout, stderr } = await init('public."Odd ""table"""', path, 'odd')
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
    const declared = JSON.parse(readFileSync(join(home, 'odd.dataset.json'), 'utf8'))
    expect(declared.rows[0]).toMatchObject({ target: 'public."Odd ""table"""', key: ['the "key"'] })
  })

  it('takes 1,600 columns', { tags: 'long', timeout: 300_000 }, async () => {
    const names = Array.from({ length: 1_599 }, (_, index) => `c${index + 1}`)
    await db.owner(`create table public.wide (sku text primary key, ${names.map((name) => `${name} text`).join(', ')});
      grant select, insert, update, delete on public.wide to workflow_admin`)
    const cells = names.map((_, index) => `v${index}`).join(',')
    const path = file('wide.csv', [['SKU', ...names].join(','), `A,${cells}`, `B,${cells}`])
    const { code, stdout, stderr } = await init('public.wide', path, 'wide', '--no-register', '--json')
    expect({ code, stderr: stderr.slice(0, 800) }).toEqual({ code: 0, stderr: '' })
    expect(Object.keys(JSON.parse(stdout).dataset.rows[0].columns)).toHaveLength(1_600)
  })

  it('says what a role without rights lacks, as one script', async () => {
    const owner = db.pool('postgres')
    await owner.query('create schema closed; create table closed.things (code text primary key, name text)')
    const path = file('things.csv', ['Code,Name', 'A,Saw', 'B,Axe'])
    const { code, stdout, stderr } = await init('closed.things', path, 'things')
    expect({ code, stderr }).toMatchObject({ code: 2 })
    expect(stdout).toMatch(/grant usage on schema closed to workflow_admin;/)
    expect(stdout).toMatch(/grant [\s\S]*on closed\.things to workflow_admin;/)
    expect(stderr).toContain('Run the script above as the owner of the table')
  })
})
