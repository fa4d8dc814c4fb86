/** What the command line says around decisions: which upload `last` is, what a table refused, what an undo leaves. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { useCli } from '../../support/database-cli.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'

const db = useDatabase()
const { home, cli, file: write } = useCli(db, 'cli-decisions')
const file = (name: string, lines: readonly string[]) => write(name, ['sku,name,price', ...lines])

async function ingest(path: string, ...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli('ingest', path, '--json', ...flags)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout).upload.upload_id
}

const ITEMS = Array.from({ length: 20 }, (_, at) => `C-${at},Item ${at},${at + 1}.50`)

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(`
    create table public.wares (sku text primary key, name text not null, price numeric(10,2));
    create function public.refuse_13() returns trigger language plpgsql as
      $$ begin if new.sku like '%-13' then raise exception 'number 13 is not for sale'; end if; return new; end $$;
    create trigger refuse_13 before insert on public.wares for each row execute function public.refuse_13();
    grant usage on schema public to workflow_admin;
    grant select, insert, update, delete on public.wares to workflow_admin`)
  const output = join(home, 'wares.dataset.json')
  const path = file('first.csv', ['A-1,Saw,12.50', 'A-2,Hammer,9.90'])
  const { code, stdout, stderr } = await cli(
    ...['init', 'public.wares', path, '--output', output, '--no-approval', '--yes'],
  )
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
})

it('`last` of a decision is no dry run, and a dry run says how its file is brought in', async () => {
  for (const verb of ['submit', 'promote', 'undo'])
    expect(await cli('upload', verb, 'last')).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('There is no upload yet that is not a dry run'),
    })
  const real = await ingest(file('real.csv', ['A-1,Saw,12.50']), '--until', 'planned')
  const dry = await ingest(file('dry.csv', ['A-3,Pliers,7.00']), '--dry-run')
  expect((await cli('upload', 'show', 'last', '--json')).stdout).toContain(dry)

  for (const verb of ['submit', 'promote'])
    expect(await cli('upload', verb, dry)).toMatchObject({
      stderr: expect.stringMatching(/is a dry run[\s\S]*stagedoor ingest FILE/),
    })
  const promoted = await cli('upload', 'promote', 'last', '--json')
  expect(promoted).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(promoted.stdout)).toMatchObject({ upload_id: real, status: 'promoted' })
})

it('rows that the table refused are counted after a promotion, with the command that lists them', async () => {
  const ingested = await cli('ingest', file('items.csv', ITEMS), '--on-invalid', 'skip')
  expect(ingested).toMatchObject({ code: 0 })
  const said = /1 row of the plan was refused by the table and left out: `stagedoor upload problems (\S+)`/
  const [, id] = said.exec(ingested.stdout.replace(/\s+/g, ' ')) ?? [undefined, ingested.stdout]
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(ingested.stdout.split('Next')[1]).toContain(`stagedoor upload problems ${id}`)
  expect((await cli('upload', 'problems', id!)).stdout).toContain('number 13 is not for sale')

  const again = ITEMS.map((line) => line.replace('C-', 'D-'))
  const planned = await ingest(file('again.csv', again), '--on-invalid', 'skip', '--until', 'planned')
  const { stdout } = await cli('upload', 'promote', planned)
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    `refused by the table and left out: \`stagedoor upload problems ${planned}`,
  )
  expect(stdout.split('Next')[1]).toContain(`stagedoor upload problems ${planned}`)
})

it('an undo that leaves rows says that it is final, and which upload to undo first', async () => {
  const first = await ingest(file('e1.csv', ['E-1,Rake,1.00', 'E-2,Spade,2.00']))
  const whole = (await cli('upload', 'undo', first, '--plan')).stdout
  expect(whole).not.toContain('An upload is undone once')
  const second = await ingest(file('e2.csv', ['E-1,Rake,1.50']))
  const { stdout } = await cli('upload', 'undo', first, '--plan')
  const text = stdout.replace(/\s+/g, ' ')
  expect(text).toContain('An upload is undone once: rows that are kept now cannot be undone later.')
  expect(text).toContain(`Stop here and undo that upload first: \`stagedoor upload undo ${second}\``)

  await db.owner(`update public.wares set price = 9 where sku = 'E-2'`)
  await cli('upload', 'undo', second, '--yes')
  const edited = (await cli('upload', 'undo', first, '--plan')).stdout
  expect(edited).toContain('An upload is undone once')
  expect(edited).not.toContain('undo that upload first')
})

it('a policy is set from a file and asks for a group; the risk of a plan is shown with the way to its rows', async () => {
  const member = await createMember(
    db,
    (await db.owner<{ id: string }>('select id from workspaces'))[0]!.id,
    'reviewer',
  )
  expect((await cli('group', 'add', 'Finance', member.userId)).stdout).toContain(`Finance: ${member.userId}`)
  const path = join(home, 'policy.yaml')
  writeFileSync(
    path,
    'base: { approvals: 0 }\nraise:\n  - when: { rows_over: 1 }\n    approvals: 2\n    groups: [finance]\n',
  )
  const set = await cli('policy', 'set', path, '--dataset', 'wares', '--reason', 'a test')
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The policy for the dataset wares is set (revision 1)'),
  })
  expect((await cli('policy', 'list')).stdout).toContain('for the dataset wares')
  expect((await cli('policy', 'show', '--dataset', 'wares')).stdout).toContain('rows_over: 1')
  expect((await cli('policy', 'history')).stdout).toContain('a test')
  writeFileSync(path, 'base: { approvals: many }')
  expect(await cli('policy', 'set', path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('0 to 20'),
  })

  const id = await ingest(file('risky.csv', ['R-1,Saw,12.50', 'R-2,Hammer,99999.90']), '--until', 'planned')
  expect(await cli('upload', 'promote', id)).toMatchObject({ code: 5 })
  const risk = await cli('upload', 'risk', id, '--all')
  expect(risk.stdout).toContain(
    `stagedoor upload plan ${id} --rows --type ware --column price --value 99999.90`,
  )
  const rows = await cli('upload', 'plan', id, '--rows', '--column', 'price', '--value', '99999.90')
  expect(rows.stdout).toContain('Hammer')
  expect(rows.stdout).not.toContain('Saw')
  expect((await cli('policy', 'remove', '--dataset', 'wares')).code).toBe(0)
  expect((await cli('group', 'remove', 'Finance', '--all')).code).toBe(0)
})

it('planning again asks whose values count where somebody changed the table since, and takes the answer as an option', async () => {
  await ingest(file('f1.csv', ['F-1,Axe,1.00', 'F-2,Awl,2.00']))
  const id = await ingest(file('f2.csv', ['F-1,Axe,5.00', 'F-2,Awl,6.00']), '--until', 'planned')
  await db.owner(`update public.wares set price = 3 where sku = 'F-1'`)
  const refused = await cli('upload', 'plan', id, '--again')
  expect(refused.code).toBe(6)
  const said = refused.stderr.replace(/\s+/g, ' ')
  expect(said).toContain(
    '1 value in 1 row changed since the last plan, and the file says otherwise: public.wares.price (1)',
  )
  expect(said).toContain(`stagedoor upload plan ${id} --on-conflict keep-theirs`)
  const json = await cli('upload', 'plan', id, '--again', '--json')
  expect(JSON.parse(json.stderr || json.stdout)).toMatchObject({
    error: { code: 'plan_conflicts', details: { cells: 1 } },
  })

  const listed = (await cli('upload', 'conflicts', id)).stdout
  expect(listed).toMatch(
    /public\.wares {2}line 2 {2}F-1 {2}changed there\n {4}price: base 1 · theirs 3 · mine 5/,
  )
  const found = JSON.parse((await cli('upload', 'conflicts', id, '--json')).stdout)
  expect(found).toMatchObject({ total: 1, cells: 1, items: [{ key: { sku: 'F-1' } }] })
  expect(await cli('upload', 'plan', id, '--on-conflict', 'theirs')).toMatchObject({ code: 2 })
  const other = await cli(
    'upload',
    'plan',
    id,
    '--on-conflict',
    'use-mine',
    '--conflicts-digest',
    'f'.repeat(64),
  )
  expect(other.code).toBe(6)

  const kept = await cli(
    'upload',
    'plan',
    id,
    '--on-conflict',
    'keep-theirs',
    '--conflicts-digest',
    found.digest,
    '--json',
  )
  expect(kept).toMatchObject({ code: 0 })
  expect(JSON.parse(kept.stdout)).toMatchObject({
    plan_totals: { ware: { update: 1, unchanged: 1 } },
    conflict_answers: [{ answer: 'keep_theirs', cells: 1 }],
  })
  const mine = await cli('upload', 'plan', id, '--on-conflict', 'use-mine', '--json')
  expect(JSON.parse(mine.stdout)).toMatchObject({ plan_totals: { ware: { update: 2 } } })
  expect((await cli('upload', 'conflicts', id)).stdout).toContain('Planning it again takes nothing back.')
})

it('shows when a plan was compared with production and how many rows differ, and asks whom the policy asks', async () => {
  await ingest(file('g1.csv', ['G-1,Axe,1.00', 'G-2,Awl,2.00']))
  const id = await ingest(file('g2.csv', ['G-1,Axe,5.00', 'G-2,Awl,6.00']), '--until', 'planned')
  const [change] = await db.owner<{ number: number; workspace_id: string }>(
    'select number, workspace_id from iu_core.change where subject_id = $1',
    [id],
  )
  const number = String(change!.number)
  expect((await cli('change', 'show', number)).stdout).toMatch(
    /compared with production at \d\d:\d\d:\d\d UTC: no row differs/,
  )
  await db.owner(`update public.wares set price = 3 where sku = 'G-1'`)
  const plan = await cli('upload', 'plan', id)
  expect(`${plan.stdout}${plan.stderr}`).toMatch(/compared with production at .* UTC: 1 row differs/)
  expect(JSON.parse((await cli('change', 'show', number, '--json')).stdout)).toMatchObject({
    outdated: 'outdated',
    plan_check: { rows_differ: 1, checked_at: expect.any(String) },
  })
  expect(JSON.parse((await cli('upload', 'plan', id, '--json')).stdout)).toMatchObject({
    plan_check: { rows_differ: 1 },
  })
  // What cannot be compared is shown all the same.
  await db.owner('alter table public.wares rename to wares_away')
  const away = await cli('change', 'show', number)
  expect(away).toMatchObject({ code: 0, stdout: expect.stringContaining('not compared with production: ') })
  await db.owner('alter table public.wares_away rename to wares')

  await createMember(db, change!.workspace_id, 'reviewer')
  const reviewers = await db.owner<{ id: string }>(
    `select user_id as id from public.workspace_members where role = 'reviewer'`,
  )
  for (const { id: member } of reviewers) await cli('group', 'add', 'Buyers', member)
  const policy = join(home, 'buyers.yaml')
  writeFileSync(policy, 'base: { approvals: 1, groups: [Buyers] }')
  expect(await cli('policy', 'set', policy, '--dataset', 'wares')).toMatchObject({ code: 0 })
  const waits = await ingest(file('g3.csv', ['G-3,Adze,5.00']), '--until', 'planned')
  expect(await cli('upload', 'submit', waits)).toMatchObject({ code: 0 })
  expect(await cli('change', 'inbox', '--as', 'reviewer', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"group_name": "Buyers",\s+"by_policy": true/),
  })
  const inbox = await cli('change', 'inbox', '--as', 'reviewer')
  expect(inbox.stdout.replace(/\s+/g, ' ')).toContain('the policy')
  expect((await cli('policy', 'remove', '--dataset', 'wares')).code).toBe(0)
})
