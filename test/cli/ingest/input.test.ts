import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createClient, useIngest } from '../../support/ingest.ts'
import { MIGRATOR } from '../../support/template.ts'

const db = useDatabase()
const ads = useIngest(db)
const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const META = ['--dataset', 'ads', '--platform', 'meta']
const WEEK = `Campaign name,Day,Amount spent (AUD),Impressions
Winter boots,2026-11-09,412.10,21004
`

const env = () => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  STAGEDOOR_HOME: ads.home,
})
const cli = (...args: string[]) => runCli(args, env())

function file(name: string, content: string | Buffer): string {
  const path = join(ads.home, name)
  writeFileSync(path, content)
  return path
}

async function piped(text: string, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...env() },
  })
  let stdout = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stdin.end(text)
  const [code] = await once(child, 'close')
  return { code, stdout }
}

it('what cannot be taken is a clear error with the exit code of its kind, and nothing is left', async () => {
  const week = file('week.csv', WEEK)
  mkdirSync(join(ads.home, 'folder'))
  const zip = file('a.zip', Buffer.from('504b0304140000000000', 'hex'))
  const cases: [number, RegExp, string[]][] = [
    [2, /There is no file nowhere\.csv/, ['nowhere.csv', ...META]],
    [2, /is a folder/, [join(ads.home, 'folder'), ...META]],
    [2, /cannot be read/, [zip, ...META]],
    [8, /no dataset nonsense; registered: ads/, [week, '--dataset', 'nonsense']],
    [
      8,
      /no platform nonsense; it has meta, google, tiktok/,
      [week, '--dataset', 'ads', '--platform', 'nonsense'],
    ],
    [2, /name one: meta, google, tiktok[\s\S]*--platform/, [week, '--dataset', 'ads']],
    [8, /no client Nobody; it has Northwind/, [week, ...META, '--client', 'Nobody']],
    [2, /no workspace Nowhere/, [week, ...META, '--workspace', 'Nowhere']],
    [2, /A share from 0 to 1/, [week, ...META, '--threshold', '2']],
    [2, /name=JSON/, [week, ...META, '--cursor', 'since=yesterday']],
    [5, /right to stage/, [week, ...META, '--as', 'viewer']],
    [2, /lacks .*Campaign/, [file('other.csv', 'a,b\n1,2\n'), ...META]],
    [2, /no line below it/, [file('header.csv', WEEK.split('\n')[0]!), ...META]],
  ]
  await db.owner(
    `insert into public.workspace_members (workspace_id, user_id, role) values ($1, gen_random_uuid(), 'viewer')`,
    [ads.workspace],
  )
  for (const [exit, words, args] of cases) {
    const { code, stderr } = await cli('ingest', ...args)
    expect({ args, code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(words) })
  }
  expect(readdirSync(join(ads.home, 'spool'))).toEqual([])
  expect(await db.owner(`select from iu_core.ingest_upload where status not in ('failed')`)).toEqual([])

  const failed = await cli('ingest', zip, ...META, '--json')
  expect(JSON.parse(failed.stderr).error).toMatchObject({ code: 'file_unreadable' })
  expect(failed.stdout).toBe('')
})

it('an id that is none, or of no upload', async () => {
  expect(await cli('upload', 'show', 'nonsense')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is not the id of an upload.*upload list/s),
  })
  expect((await cli('upload', 'show', ads.workspace)).code).toBe(8)
  expect((await cli('upload', 'show', ads.workspace, '--as', 'operator')).code).toBe(8)
  expect((await cli('upload', 'promote', ads.workspace)).code).toBe(8)
})

it('standard input is read to its end, under the name that is given', async () => {
  const { code, stdout } = await piped(
    WEEK,
    'ingest',
    '-',
    ...META,
    '--name',
    'pull.csv',
    '--cursor',
    'since="2026-11-09"',
    '--json',
  )
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    created: true,
    upload: { status: 'promoted', file_name: 'pull.csv', cursor_name: 'since', cursor_value: '2026-11-09' },
  })
  expect(await db.owner('select cursor_value from iu_core.ingest_cursor')).toEqual([
    { cursor_value: '2026-11-09' },
  ])
})

it('a line can be left out', async () => {
  const text = 'Campaign name,Day,Amount spent (AUD),Impressions\nA,2026-11-08,x,1\nB,2026-11-08,1,1\n'
  const ingested = await cli('ingest', file('one-wrong.csv', text), ...META)
  const [, id] = /upload problems (\S+)/.exec(ingested.stdout)!
  expect((await cli('upload', 'repair', id!, '--line', '2', '--leave-out', '--set', 'Day=1')).code).toBe(2)
  expect(await cli('upload', 'repair', id!, '--line', '2', '--leave-out')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 line left out'),
  })
  const shown = JSON.parse((await cli('upload', 'show', id!, '--json')).stdout)
  expect(shown).toMatchObject({ invalid_count: 0, skipped_count: 1, plan_refusal: null })
})

it('a text is replaced and empty cells are filled in all lines of a column', async () => {
  const lines = ['C,2026-11-08,x,1', 'D,2026-11-08,x,', 'E,2026-11-08,1,1']
  const text = `Campaign name,Day,Amount spent (AUD),Impressions\n${lines.join('\n')}\n`
  const ingested = await cli('ingest', file('column.csv', text), ...META)
  const [, id] = /upload problems (\S+)/.exec(ingested.stdout)!
  const repair = (...args: string[]) => cli('upload', 'repair', id!, ...args)
  const column = ['--column', 'Amount spent (AUD)']
  expect((await repair('--replace', 'x=2')).code).toBe(2)
  expect(await repair('--fill', 'Impressions=3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--where-empty, or --lines'),
  })
  expect(await repair(...column, '--replace', 'x=2', '--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 cells of 2 lines would be corrected. Nothing changed.'),
  })
  expect(await repair(...column, '--replace', 'x=2', '--lines', '2-2')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/1 line corrected and checked again\n[\s\S]*Plan updated/),
  })
  expect((await repair(...column, '--replace', 'x=2')).stdout).toContain('1 line corrected')
  expect((await repair('--fill', 'Impressions=3', '--where-empty')).stdout).toContain('1 line corrected')
  const shown = JSON.parse((await cli('upload', 'show', id!, '--json')).stdout)
  expect(shown).toMatchObject({ invalid_count: 0, plan_refusal: null })
})

it('what a file says cannot rewrite the terminal', async () => {
  const evil = '\u001b[2J\u202e\u009b31m'
  const text = `Campaign name,Day,Amount spent (AUD),Impressions,No${evil}te\nA${evil},2026-11-09,x${evil},1,\nB,2026-11-09,1,1,\n`
  const name = `ev${evil}il.csv`
  const ingested = await cli('ingest', file('evil.csv', text), ...META, '--name', name)
  expect(ingested.code).toBe(5)
  const [, id] = /upload problems (\S+)/.exec(ingested.stdout)!
  const screens = [
    ingested,
    await cli('upload', 'show', id!),
    await cli('upload', 'problems', id!),
    await cli('upload', 'list'),
    await cli('upload', 'plan', id!, '--rows'),
    await cli('upload', 'repair', id!, '--line', '2', '--set', 'nonsense=1'),
  ]
  for (const { stdout, stderr } of screens) {
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
  }
  expect(ingested.stdout).toContain('ev␛[2J')
})

it('on your own database the colleague decides with their own token', async () => {
  await db.owner('update iu_core.ingest_dataset set approval_required = true')
  const path = file('approve.csv', WEEK.replace('412', '413'))
  const { code, stdout } = await cli('ingest', path, ...META, '--as', 'operator')
  await db.owner('update iu_core.ingest_dataset set approval_required = false')
  expect(code).toBe(5)
  const [, id] = /POST \/api\/v1\/uploads\/(\S+)\/approve/.exec(stdout)!
  for (const args of [
    ['approve', id!, '--as', 'reviewer'],
    ['approve', id!],
    ['reject', id!, '--reason', 'no', '--as', 'reviewer'],
    ['undo', id!, '--yes', '--as', 'reviewer'],
  ]) {
    const refused = await cli('upload', ...args)
    expect({ args, ...refused }).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/own token.*api\/v1\/uploads/),
    })
  }
})

it('a file for one of several clients says which', async () => {
  await createClient(db, ads.workspace, 'Contoso')
  const path = file('several.csv', WEEK.replace('412', '414'))
  expect(await cli('ingest', path, ...META)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/name one: Contoso, Northwind[\s\S]*--client/),
  })
  expect((await cli('ingest', path, ...META, '--client', 'Contoso')).code).toBe(0)
  expect((await cli('ingest', path, ...META, '--client', ads.client)).code).toBe(0)
  expect(await cli('client', 'create', 'Contoso')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already'),
  })
  expect((await cli('client', 'list')).stdout).toMatch(/Contoso\n.*Northwind/)
})

it('limits are shown, changed, and kept', async () => {
  const changed = await cli('upload', 'limits', '--lines', '1', '--workspace', ads.workspace, '--json')
  expect(JSON.parse(changed.stdout)).toMatchObject({
    workspace_id: ads.workspace,
    max_lines: 1,
    max_at_once: 3,
  })
  const two = file('two.csv', `${WEEK}Winter boots,2026-11-10,1.00,7\n`)
  expect(await cli('ingest', two, ...META, '--client', 'Northwind')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('upload limits --lines'),
  })
  expect((await cli('upload', 'limits')).stdout).toMatch(/lines +100,000/)
})
