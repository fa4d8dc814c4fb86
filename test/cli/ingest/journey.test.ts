import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const folder = temporaryHome('cli-ingest')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
let server: RunningCli

const HEADER = 'Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Reach,Link clicks'
const WEEK = `${HEADER}
Winter boots,Retarget,Boots video,2026-11-09,412.10,21004,9000,311
Winter boots,Retarget,Boots video,2026-11-10,498.77,25310,9800,320
Winter boots,Lookalike,Boots photo,2026-11-09,88.00,6120,3000,52
`

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

const cli = (...args: string[]) => runCli(args, env)
const upload = (...args: string[]) => runCli(['upload', ...args], env)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCli([...args, '--json'], env)
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}
const META = ['--dataset', 'ads', '--platform', 'meta']

it('the first start adds the ads dataset with one client, and says so', async () => {
  expect(server.output()).toMatch(/First start: the dataset ads was registered, with the client Northwind/)
  expect(await json('client', 'list')).toEqual([{ id: expect.any(String), name: 'Northwind' }])
  expect(await json('dataset', 'list')).toMatchObject([{ dataset: 'ads', approval_required: true }])
})

it('a file goes from one person to another, into the tables, and back', async () => {
  const path = file('week.csv', WEEK)
  const first = await cli('ingest', path, ...META, '--as', 'operator')
  expect(first).toMatchObject({ code: 5, stderr: expect.stringContaining('needs the approval') })
  expect(first.stderr).toMatch(/● The upload needs/)
  expect(first.stderr).not.toContain('✖')
  expect(first.stderr).toMatch(/Read .*3 lines[\s\S]*Check[\s\S]*Stage[\s\S]*Plan/)
  expect(first.stdout).toMatch(/● Approve +waits for a second person/)
  expect(first.stdout).toMatch(/ +new\n +campaigns +1\n +ad_sets +2\n +ads +2\n +daily_metrics +3\n/)
  const [, id] = /stagedoor upload approve (\S+) --as reviewer/.exec(first.stdout)!

  const again = await cli('ingest', path, ...META, '--as', 'operator')
  expect(again).toMatchObject({
    code: 5,
    stdout: expect.stringContaining(`already uploaded, as upload ${id}`),
  })

  expect((await upload('list', '--waiting', '--as', 'reviewer')).stdout).toMatch(
    new RegExp(`${id}  awaiting review`),
  )
  const { plan_digest: digest } = await json('upload', 'show', id!)
  const approve = ['approve', id!, '--digest', digest.slice(0, 12)]
  expect(await upload('promote', id!, '--as', 'operator')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('approval'),
  })
  const refusals: [number, RegExp, string[]][] = [
    [5, /a person decides, not a login/, [...approve, '--tick', 'changes']],
    [5, /Operator may not review; a reviewer decides/, [...approve, '--tick', 'changes', '--as', 'operator']],
    [2, /Here nobody can be asked/, ['approve', id!, '--as', 'reviewer']],
    [2, /at least 12 characters/, ['approve', id!, '--digest', digest.slice(0, 8), '--as', 'reviewer']],
    [6, /open items: changes/, [...approve, '--tick', '', '--as', 'reviewer']],
    [
      6,
      /has another digest/,
      ['approve', id!, '--digest', '0'.repeat(64), '--tick', 'changes', '--as', 'reviewer'],
    ],
  ]
  for (const [exit, words, args] of refusals) {
    const { code, stderr } = await upload(...args)
    expect({ args, code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(words) })
  }
  expect((await upload(...approve, '--tick', 'changes', '--as', 'reviewer')).stdout).toContain('✔ Approved')
  const promoted = await upload('promote', id!, '--as', 'operator')
  expect(promoted.stdout).toMatch(/✔ Promote +by Operator/)
  expect(promoted.stdout).toMatch(/✔ Approve +by Reviewer/)

  expect((await upload('lineage', id!)).stdout).toMatch(
    /^week\.csv, approved by Reviewer \d+ (s|min) ago, promoted by Operator \d+ (s|min) ago\n\nline +table/,
  )
  const { rows, ...deeds } = await json('upload', 'lineage', id!)
  expect(deeds).toMatchObject({ approved_by: expect.any(String), promoted_by: expect.any(String) })
  const metric = rows.find((row: { target: string }) => row.target === 'public.daily_metrics')
  const origin = await cli('lineage', 'daily_metrics', '--id', metric.target_id)
  expect(origin.stdout).toMatch(
    /Written by line 2 of week\.csv\n {2}Winter boots \/ Retarget \/ Boots video \/ 2026-11-09\n.*approved by Reviewer/,
  )

  expect(await upload('undo', id!, '--as', 'reviewer')).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/daily_metrics +3/),
    stderr: expect.stringContaining('--yes'),
  })
  expect(await json('upload', 'undo', id!, '--plan', '--as', 'operator')).toMatchObject({
    totals: { daily_metric: { reversed: 3 } },
    stays: [],
  })
  for (const [words, ...as] of [
    [/Operator may not review/, '--as', 'operator'],
    [/a person decides, not a login/],
  ] as [RegExp, ...string[]][]) {
    const { code, stderr, stdout } = await upload('undo', id!, '--yes', ...as)
    expect({ code, stderr, stdout }).toEqual({ code: 5, stderr: expect.stringMatching(words), stdout: '' })
  }
  expect((await upload('undo', id!, '--plan')).stdout).toMatch(/daily_metrics +3/)
  expect((await upload('undo', id!, '--yes', '--as', 'reviewer')).stdout).toContain('✔ Undone')
  expect(await json('upload', 'show', id!)).toMatchObject({ status: 'undone' })
})

it('wrong lines are exported, corrected and brought in', async () => {
  const path = file('bad.csv', WEEK.replace('2026-11-10', '2026-02-30').replace('412.10', 'lots'))
  const refused = await runCli(['ingest', path, ...META, '--as', 'operator', '--json'], env)
  expect(refused.code).toBe(5)
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'plan_refused' })
  const { created, upload: found, problems, next } = JSON.parse(refused.stdout)
  expect({ created, found }).toMatchObject({ created: true, found: { status: 'planned', invalid_count: 2 } })
  expect(problems).toMatchObject([
    { line: 2, column: 'Amount spent (AUD)', value: 'lots', severity: 'error' },
    { line: 3, column: 'Day', value: '2026-02-30', severity: 'error' },
  ])
  const id = found.upload_id as string
  expect(next.map(({ command }: { command: string }) => command)).toContain(
    `stagedoor upload repair ${id} --file wrong-lines.csv --as operator`,
  )
  const shown = await upload('problems', id)
  expect(shown.stdout).toMatch(/✖ +2 +Amount spent \(AUD\) +lots +This is not a number/)
  expect(shown.stdout).toMatch(/✖ +3 +Day +2026-02-30/)

  const wrong = join(folder, 'wrong.csv')
  expect(await json('upload', 'export', id, '-o', wrong)).toMatchObject({ lines: 2 })
  expect((await upload('export', id)).stdout).toBe(readFileSync(wrong, 'utf8'))
  expect((await upload('repair', id, '--file', wrong)).stdout).toContain('Nothing differs')
  expect((await upload('repair', id, '--line', '2', '--set', 'Day=2026-11-09', '--as', 'viewer')).code).toBe(
    5,
  )

  const one = await json(
    'upload',
    'repair',
    id,
    '--line',
    '2',
    '--set',
    'Amount spent (AUD)=412.10',
    '--as',
    'operator',
  )
  expect(one).toMatchObject({ lines: 1, upload: { status: 'planned', invalid_count: 1 } })
  // As a German spreadsheet saves it: another delimiter, no mark.
  const corrected = readFileSync(wrong, 'utf8').replace('\ufeff', '').split('\r\n')
  writeFileSync(
    wrong,
    [corrected[0], corrected[2]]
      .map((line) => line!.replaceAll(',', ';').replace('2026-02-30', '2026-11-10'))
      .join('\n'),
  )
  const all = await upload('repair', id, '--file', wrong, '--as', 'operator')
  expect(all.stdout).toMatch(/1 line corrected[\s\S]*✔ Check +3 valid[\s\S]*stagedoor upload submit/)

  const rejected = await json('upload', 'submit', id, '--as', 'operator')
  expect(rejected).toMatchObject({ review_status: 'pending' })
  await json('upload', 'reject', id, '--reason', 'the wrong week', '--as', 'reviewer')
  expect((await upload('show', id)).stdout).toMatch(/✖ Approve +rejected: the wrong week/)
  expect(await json('upload', 'discard', id, '--as', 'operator')).toMatchObject({ status: 'discarded' })
})

it('a dry run plans and goes no further; what changes is shown from what to what', async () => {
  await json('dataset', 'register', 'ads', '--no-approval', '--undo-window', '90 days')
  const promoted = await json('ingest', file('solo.csv', WEEK), ...META)
  expect(promoted).toMatchObject({
    created: true,
    upload: { status: 'promoted', file_name: 'solo.csv' },
    problems: [],
  })

  const dry = await cli('ingest', file('dry.csv', WEEK.replace('412.10', '420.00')), ...META, '--dry-run')
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/daily_metrics +1 +2/) })
  const [, id] = /stagedoor upload plan (\S+) --rows/.exec(dry.stdout)!
  const rows = await upload('plan', id!, '--rows', '--action', 'update', '--type', 'daily_metric')
  expect(rows.stdout).toMatch(
    /~ +2 +Winter boots \/ Retarget \/ Boots video \/ 2026-11-09 +changed\n +spend: 412.10 → 420.00\n/,
  )
  expect(await json('upload', 'plan', id!, '--rows', '--limit', '1')).toMatchObject({
    rows: [{}],
    next: '1.2',
  })
  expect(await upload('promote', id!)).toMatchObject({ code: 5, stderr: expect.stringContaining('dry run') })
  await json('dataset', 'register', 'ads', '--approval')
  expect(await json('dataset', 'list')).toMatchObject([{ approval_required: true, undo_window: '90 days' }])
})

it('every command of it has help', async () => {
  for (const command of ['ingest', 'upload', 'promotion', 'dataset', 'client', 'lineage']) {
    const { code, stdout } = await cli(command, '--help')
    expect([command, code]).toEqual([command, 0])
    expect(stdout).toContain(`stagedoor ${command}`)
  }
})
