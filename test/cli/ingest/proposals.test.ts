/** `stagedoor proposal` and `stagedoor propose` on a database of the user's own; and processes that are killed in the middle. */
import { beforeAll, describe, expect, it } from 'vitest'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const home = temporaryHome('proposals')
const environment = () => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  PROPOSAL_DATABASE_URL: db.url('stagedoor_proposer'),
  STAGEDOOR_HOME: home,
})
const cli = (...args: string[]) => runCli(args, environment())
const sql = async <R>(text: string) => (await db.pool('postgres').query(text)).rows as R[]
const image = () => sql(`select id, price::text from public.shelf order by id`)

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  const workspace = await createWorkspace(db)
  await createMember(db, workspace, 'operator')
  await sql(`create table public.shelf (id integer primary key, price numeric);
    insert into public.shelf values (1, 10), (2, 20);
    grant select, insert, update, delete on public.shelf to workflow_admin`)
})

it('opens a table and prints the rights for its owner, proposes, shows the statement, and closes it again', async () => {
  expect((await cli('propose', 'update shelf set price = 0')).stderr).toContain('not open to proposals')
  const opened = await cli('proposal', 'open', 'shelf', '--operations', 'update,delete', '--json')
  const { statements, target } = JSON.parse(opened.stdout)
  expect(target).toBe('public.shelf')
  expect((await cli('proposal', 'tables')).stdout).toContain('not ready')
  expect(await cli('propose', 'update shelf set price = 0')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no rights on public.shelf'),
  })
  const setup = await cli('proposal', 'setup')
  for (const statement of statements) expect(setup.stdout).toContain(statement)
  await sql(statements.join('\n'))
  expect(JSON.parse((await cli('proposal', 'tables', '--json')).stdout)).toMatchObject([
    { target: 'public.shelf', operations: ['update', 'delete'], not_ready: null },
  ])

  const without = await runCli(['propose', 'update shelf set price = 0'], {
    ...environment(),
    PROPOSAL_DATABASE_URL: '',
  })
  expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('PROPOSAL_DATABASE_URL') })
  expect(await cli('propose', 'insert into shelf values (3, 1)')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('not to insert'),
  })
  const dry = await cli('propose', 'update shelf', 'set price = price * 1.1', '--dry-run')
  expect(dry).toMatchObject({ code: 0, stderr: expect.not.stringContaining('✖') })
  expect(dry.stdout).toContain('update shelf set price = price * 1.1')
  const proposed = await runCli(
    ['propose', '--title', 'Ten percent', '--json'],
    environment(),
    'update shelf set price = price * 1.1;\n',
  )
  expect(proposed.code, proposed.stderr).toBe(0)
  const { upload, rows } = JSON.parse(proposed.stdout)
  expect(upload).toMatchObject({ file_name: 'Ten percent', review_status: 'pending' })
  expect(rows).toMatchObject([{ after: { price: 11 } }, { after: { price: 22 } }])
  const shown = await cli('upload', 'show', upload.upload_id)
  expect(shown.stdout).toContain('update shelf set price = price * 1.1')
  const again = await cli('propose', '--again', upload.upload_id, '--json')
  expect(JSON.parse(again.stdout).upload).toMatchObject({ file_name: 'Ten percent' })
  expect((await cli('upload', 'show', upload.upload_id)).stdout).toContain('discarded')
  expect(await image()).toEqual([
    { id: 1, price: '10' },
    { id: 2, price: '20' },
  ])

  const closed = await cli('proposal', 'close', 'shelf', '--json')
  expect(JSON.parse(closed.stdout).statements.at(-1)).toBe(
    'revoke all on public.shelf from stagedoor_proposer;',
  )
  expect((await cli('propose', 'update shelf set price = 0')).stderr).toContain('not open to proposals')
  await cli('proposal', 'open', 'shelf')
  // More rows than a screen: it says that these are the first.
  await sql('insert into shelf select n, n from generate_series(101, 125) n')
  const many = await cli('propose', 'update shelf set price = price + 1', '--dry-run')
  await sql('delete from shelf where id > 100')
  expect(many.stdout).toMatch(/the first 20; all of them: stagedoor upload plan/)
})

describe('a process that is killed', () => {
  const waiting = (login: string) =>
    until(`${login} waits for a lock`, async () => {
      const found = await sql(
        `select from pg_stat_activity where datname = current_database() and usename = '${login}' and wait_event_type = 'Lock'`,
      )
      return found.length > 0 || undefined
    })
  const uploads = async () =>
    (await sql<{ n: number }>('select count(*)::int as n from iu_core.ingest_upload'))[0]!.n

  it('while the statement runs leaves nothing', async () => {
    await sql((await cli('proposal', 'setup')).stdout)
    const [before, count] = [await image(), await uploads()]
    const other = await db.session('postgres')
    await other.query('begin; lock table public.shelf in access exclusive mode')
    const running = startCli(['propose', 'update shelf set price = 0'], environment())
    await waiting('stagedoor_proposer')
    await running.end('SIGKILL')
    await other.query('rollback')
    await other.end()
    expect(await image()).toEqual(before)
    expect(await uploads()).toBe(count)
  })

  it('while the plan is recorded leaves an upload that fails like one without a reader', async () => {
    const before = await image()
    const other = await db.session('postgres')
    await other.query('begin; lock table iu_core.ingest_proposal in access exclusive mode')
    const running = startCli(['propose', 'update shelf set price = 0'], environment())
    await waiting(MIGRATOR)
    await running.end('SIGKILL')
    await other.query('rollback')
    await other.end()
    const [open] = await sql<{ upload_id: string }>(
      `select upload_id from iu_core.ingest_upload where status = 'reading'`,
    )
    expect(open).toBeDefined()
    // Its session ends with its process; what it had begun is rolled back.
    await until('its session is gone', async () => {
      const left = await sql(
        `select from pg_stat_activity where datname = current_database() and query like '%fn_proposal_plan%' and pid <> pg_backend_pid()`,
      )
      return left.length === 0 || undefined
    })
    expect(await sql(`select from iu_core.ingest_plan where upload_id = '${open!.upload_id}'`)).toEqual([])
    expect(await sql(`select from iu_core.ingest_proposal where upload_id = '${open!.upload_id}'`)).toEqual(
      [],
    )
    await sql(
      `update iu_core.ingest_upload set reader_seen_at = now() - interval '1 day' where upload_id = '${open!.upload_id}'`,
    )
    await db.owner('select iu_core.fn_ingest_fail_stalled()')
    expect(
      await sql(`select status from iu_core.ingest_upload where upload_id = '${open!.upload_id}'`),
    ).toEqual([{ status: 'failed' }])
    expect(await image()).toEqual(before)
  })
})
