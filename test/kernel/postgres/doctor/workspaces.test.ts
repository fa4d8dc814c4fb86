/** Workspaces that were there before us, as on Supabase. */
import { beforeAll, expect, it } from 'vitest'
import { examine, type Finding } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { migrate } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { type BareDatabase, useDatabases } from '../../../support/empty-database.ts'

const create = useDatabases()
let db: BareDatabase

beforeAll(async () => {
  db = await create('empty')
  await db.superuser(
    `create table public.workspaces (id uuid primary key, name text, plan text);
     create table public.workspace_members (workspace_id uuid, user_id text);
     alter table public.workspace_members enable row level security;
     create policy own on public.workspace_members using (user_id = current_user);
     create policy stagedoor_reads on public.workspace_members for select to workflow_admin using (true);
     grant all on public.workspace_members to workflow_admin;
     grant all on public.workspaces to public;
     create trigger theirs before update on public.workspaces
       for each row execute function suppress_redundant_updates_trigger()`,
  )
  await migrate({ url: db.url })
})

it('is content with what migrate was content with', async () => {
  const report = await examine({ url: db.url })
  expect(report.findings).toEqual([])
  expect(report.notes).toContain(
    'public.workspaces belongs to postgres: only what Stagedoor needs of it was examined.',
  )
})

async function findings(): Promise<readonly Finding[]> {
  return (await examine({ url: db.url })).findings
}

it('finds that it may not read them, also through row level security, with the statements that give it', async () => {
  await db.superuser(
    `revoke all on public.workspace_members from workflow_admin;
     drop policy stagedoor_reads on public.workspace_members`,
  )
  const report = await examine({ url: db.url })
  expect(report.findings).toEqual([
    {
      kind: 'workspaces',
      object: 'table public.workspace_members',
      problem: 'cannot be read and referred to by workflow_admin',
      remedy: 'grant select, references on public.workspace_members to workflow_admin;',
    },
    {
      kind: 'workspaces',
      object: 'table public.workspace_members',
      problem: expect.stringContaining('hides rows from workflow_admin'),
      remedy:
        'create policy stagedoor_reads on public.workspace_members for select to workflow_admin using (true);',
    },
  ])
  for (const { remedy } of report.findings) await db.superuser(remedy)
  expect(await findings()).toEqual([])
})

it('finds a restrictive policy that hides rows', async () => {
  await db.superuser('create policy never on public.workspace_members as restrictive using (false)')
  expect(await findings()).toEqual([
    expect.objectContaining({ problem: 'hides rows from workflow_admin by its restrictive policy never' }),
  ])
  await db.superuser('drop policy never on public.workspace_members')
})

it('finds a column that is not there', async () => {
  await db.superuser('alter table public.workspaces rename column name to title')
  expect(await findings()).toEqual([
    {
      kind: 'workspaces',
      object: 'table public.workspaces',
      problem: 'has no column name, which Stagedoor reads',
      remedy: expect.stringContaining('rename column … to name'),
    },
  ])
  await db.superuser('alter table public.workspaces rename column title to name')
  expect(await findings()).toEqual([])
})

it('finds a table that is gone', async () => {
  await db.superuser('alter table public.workspaces rename to companies')
  expect(await findings()).toEqual([
    {
      kind: 'missing',
      object: 'table public.workspaces',
      problem: 'does not exist',
      remedy: expect.stringContaining('sql/migrations/0002_access.sql'),
    },
  ])
})
