/** `stagedoor search add-table` and its siblings on a database of the user's own. */
import { beforeAll, expect, it } from 'vitest'
import { createKnowledge } from '../../search/knowledge.ts'
import { approve } from '../../search/tables/table-life.ts'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'

const db = useDatabase()
const run = (...parts: string[]) => runCli(['search', ...parts], { DATABASE_URL: db.url(MIGRATOR) })
let workspace: string

beforeAll(async () => {
  workspace = (await createKnowledge(db)).workspace
  const owner = await db.session('postgres')
  await owner.query(`create table lamps (id int primary key, name text, brand text); insert into lamps values (1, 'desk lamp', 'ACME');
    grant trigger on lamps to workflow_admin; grant select on lamps to dot_executor`)
})

it('prints the grant that is missing, then the table, its state and what to do next', async () => {
  const add = ['add-table', 'lamps', '--text', 'name', '--filter', 'brand', '--workspace', workspace]
  const refused = await run(...add)
  expect(refused.code).toBe(6)
  expect(refused.stderr).toContain('grant select on public.lamps to vector_worker;')
  const owner = await db.session('postgres')
  await owner.query('grant select on lamps to vector_worker')
  const added = await run(...add)
  expect(added.stderr).toBe('')
  expect(added.stdout).toMatch(
    /public\.lamps is in dry run[\s\S]*filters +brand[\s\S]*found by +dot_executor[\s\S]*grant select on public\.lamps to authenticated, stagedoor_reviewer, stagedoor_agent;[\s\S]*POST \/api\/v1\/search\/tables\/lamps\/review/,
  )
  const { userId } = await createMember(db, workspace, 'reviewer')
  await db.owner(`update public.workspace_members set display_name = 'Rita' where user_id = $1`, [userId])
  await approve(db, 'lamps', userId)
  const shown = (await run('show-table', 'lamps')).stdout
  expect(shown).toMatch(/reviewed +by Rita/)
  expect(shown).toContain(
    'grant select on public.lamps to authenticated, stagedoor_reviewer, stagedoor_agent;',
  )
  await owner.query(`insert into lamps values (2, 'zzz', 'none')`)
  expect((await run('status')).stdout).toMatch(/pending .*1 changed row of tables/)
  await owner.query('delete from lamps where id = 2')
  const nothing = await run('desk', '--workspace', workspace)
  expect(nothing.stdout).toContain('New and changed rows of tables are found about two minutes later')
  const flushed = await run('flush', '--workspace', workspace)
  expect(flushed.stdout).toContain('1 text is in search')
  expect((await run('tables')).stdout).toMatch(/lamps +active +1 read +name +brand/)
  const found = await run('desk', '--filter', 'brand=ACME', '--workspace', workspace)
  expect(found.stdout).toMatch(/desk lamp +public\.lamps 1 · brand ACME · current/)
  expect((await run('desk', '--filter', 'colour=red', '--workspace', workspace)).stderr).toContain(
    'There is no filter column colour; there are brand',
  )
  expect((await run('status')).stdout).toContain('1 of rows of 1 table')
  expect((await run('remove-table', 'lamps')).code).toBe(2)
  expect((await run('remove-table', 'lamps', '--yes')).stdout).toContain(
    'public.lamps is not searched any more',
  )
  expect((await run('tables')).stdout).toContain('No table is searched yet')
})

it('grants as the owner of the table what is missing, where it is asked to and its login may', async () => {
  const owner = await db.session('postgres')
  await owner.query(
    `create table kites (id int primary key, name text); alter table kites owner to ${MIGRATOR}`,
  )
  const add = ['add-table', 'kites', '--text', 'name', '--workspace', workspace]
  expect((await run(...add)).code).toBe(6)
  expect((await run(...add, '--workspace-column', 'name')).code).toBe(2)
  const added = await run(...add, '--grant')
  expect(added.stderr).toBe('')
  expect(added.stdout).toContain('public.kites is in dry run')
  expect(added.stdout).toMatch(/found by +authenticated, stagedoor_reviewer, stagedoor_agent, dot_executor\n/)
  expect(added.stdout).not.toContain('grant select')
})
