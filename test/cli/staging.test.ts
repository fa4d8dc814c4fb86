import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const folder = temporaryHome('staging')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  writeFileSync(join(folder, 'manifest.json'), '{"pieces": [12345678901234567890, 1.50]}')
  writeFileSync(join(folder, 'notes.md'), '# Week 45\n\nSpend rose.\n')
  writeFileSync(join(folder, 'broken.json'), '{"a":')
  writeFileSync(join(folder, 'picture.bin'), Buffer.from([0, 1, 2, 255]))
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

const staging = (...args: string[]) => runCli(['staging', ...args], env)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await staging(...args, '--json')
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}
const PACKAGE = ['--kind', 'review_package', '--type', 'review_bundle', '--purpose', 'Commentary on week 45']

it('a review package from an agent to its consumption, on the command line', async () => {
  const created = await json(
    'create',
    ...PACKAGE,
    '--as',
    'agent',
    '--key',
    'week 45',
    '--part',
    `manifest=@${join(folder, 'manifest.json')}`,
    '--part',
    `commentary=@${join(folder, 'notes.md')}`,
    '--part',
    'checklist:json=["figures match", {"id": "names", "text": "no client names"}]',
  )
  expect(created).toMatchObject({ created: true, lifecycle_status: 'pending' })
  const id = created.staging_record_id as string
  const digest = created.content_hash as string

  const { stdout: list } = await staging('list', '--status', 'pending', '--as', 'reviewer')
  expect(list).toMatch(new RegExp(`${id} .* Agent `))
  const { stdout: shown } = await staging('show', id, '--as', 'reviewer')
  for (const part of [
    'Commentary on week 45',
    digest,
    'Spend rose.',
    '[ ] names  no client names',
    'figures match',
  ]) {
    expect(shown).toContain(part)
  }
  expect(shown).toContain('12345678901234567890')
  expect(shown).toMatch(/source +agent/)
  expect(shown).toContain(`stagedoor staging approve --as reviewer ${id} --digest ${digest}`)
  expect(shown).toMatch(
    new RegExp(
      `Tick .*\\n +stagedoor staging tick --as reviewer ${id} 1 names\\n +Then approve exactly this\\n`,
    ),
  )
  expect(shown).toMatch(/owner +Agent/)
  // Printed alone, a part is exactly what is held: no number is rounded.
  expect((await staging('show', id, '--part', '0')).stdout).toBe('{"pieces": [12345678901234567890, 1.50]}')

  const refused = async (exit: number, words: RegExp, ...args: string[]) => {
    const { code, stderr } = await staging(...args)
    expect({ args, code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(words) })
  }
  await refused(
    6,
    new RegExp(`open items: 1, names\\n.*stagedoor staging tick --as reviewer ${id} 1 names`),
    ...['approve', id, '--digest', digest, '--as', 'reviewer'],
  )
  await refused(5, /an agent decides nothing/, 'tick', id, '1', '--as', 'agent')
  await refused(5, /a person decides.*--as reviewer/s, 'tick', id, '1')
  await json('tick', id, '1', 'names', '--as', 'reviewer', '--note', 'checked')
  await refused(6, /is not that of record/, 'approve', id, '--digest', '0'.repeat(64), '--as', 'reviewer')
  const short = await staging('approve', id, '--digest', digest.slice(0, 8), '--as', 'reviewer')
  expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('at least 12 characters') })
  expect(short.stderr).not.toContain(digest)
  await refused(5, /an agent decides nothing/, 'approve', id, '--digest', digest, '--as', 'agent')
  await refused(5, /a person decides.*--as reviewer/s, 'approve', id, '--digest', digest)
  await refused(5, /a person decides.*--as reviewer/s, 'reject', id, '--reason', 'no')
  await refused(5, /✖/, 'approve', id, '--digest', digest, '--as', 'operator')
  await refused(6, /must be approved/, 'consume', id, '--as', 'operator')
  await json('approve', id, '--digest', digest.slice(0, 12), '--as', 'reviewer')
  await refused(6, /already approved by/, 'reject', id, '--reason', 'late', '--as', 'reviewer')
  const consumed = await json('consume', id, '--as', 'operator', '--digest', digest)
  expect(consumed.run_id).toMatch(/^[0-9a-f-]{36}$/)
  expect((await staging('show', id)).stdout).toContain(`by run ${consumed.run_id}`)
  expect((await json('health')).ok).toBe(true)
})

it('withdraw, reject, policy, expire and cleanup', async () => {
  const snapshot = [
    '--kind',
    'agent_intermediate',
    '--type',
    'source_excerpt',
    '--purpose',
    'try',
    '--part',
    'a:text=hello',
  ]
  const own = await json('create', ...snapshot, '--as', 'agent')
  expect((await staging('withdraw', own.staging_record_id, '--as', 'operator')).code).toBe(5)
  await json('withdraw', own.staging_record_id, '--as', 'agent')
  const withdrawn = (await staging('show', own.staging_record_id)).stdout
  expect(withdrawn).toMatch(/withdrawn +its owner withdrew it/)
  expect(withdrawn).not.toContain('rejected')
  const other = await json('create', ...snapshot, '--as', 'operator')
  await json('reject', other.staging_record_id, '--reason', 'not needed', '--as', 'reviewer')
  expect((await staging('show', other.staging_record_id)).stdout).toContain('not needed')

  expect((await staging('policy')).stdout).toMatch(/review_package\s+required\s+on\s+required/)
  expect((await staging('policy', 'review_package', '--four-eyes', 'off')).code).toBe(2)
  const [policy] = await json('policy', 'review_package', '--four-eyes', 'off', '--reason', 'alone here')
  expect(policy).toMatchObject({ staging_kind: 'review_package', four_eyes: false })
  expect((await json('expire')).expired).toBe(0)
  expect(await json('cleanup', '--dry-run')).toMatchObject({ cleaned: 0, dry_run: true })
})

it('bad input is a clear error, and nothing is stored', async () => {
  const before = (await json('list', '--limit', '1000')).length
  const create = (...args: string[]) => staging('create', ...PACKAGE, ...args)
  const cases: [RegExp, string[]][] = [
    [/is not JSON/, ['--part', `a=@${join(folder, 'broken.json')}`]],
    [/There is no file/, ['--part', 'a=@/nowhere.json']],
    [/name=@file/, ['--part', 'nonsense']],
    [/not valid UTF-8/, ['--part', `a:text=@${join(folder, 'picture.bin')}`]],
    [/no workspace Nowhere/, ['--workspace', 'Nowhere', '--part', 'a:text=x']],
    [/expiry must be a time in the future/, ['--expires-at', '2001-01-01', '--part', 'a:text=x']],
    [/401 digits/, ['--part', 'a:json=[1e131071]']],
  ]
  for (const [words, args] of cases) {
    const { code, stderr } = await create(...args)
    expect({ args, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(words) })
  }
  expect((await staging('create', '--kind', 'nonsense')).code).toBe(2)
  expect(await staging('show', 'nonsense')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/nonsense is not the id of a staging record.*staging list/s),
  })
  const mismatch = await staging(
    'create',
    '--kind',
    'sql_snapshot',
    '--type',
    'review_bundle',
    '--purpose',
    'x',
    '--part',
    'a:text=x',
  )
  expect(mismatch).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It takes: sql_result_snapshot'),
  })
  expect((await json('list', '--limit', '1000')).length).toBe(before)

  await runCli(['gate', 'close', 'iu_core.staging_writes_enabled'], env)
  const closed = await create('--part', 'a:text=x')
  expect(closed).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('stagedoor gate open iu_core.staging_writes_enabled'),
  })
  await runCli(['gate', 'open', 'iu_core.staging_writes_enabled'], env)
})

it('a change is reviewed by its number: changes requested, approved, and how it stands', async () => {
  const change = (...args: string[]) => runCli(['change', ...args], env)
  const { staging_record_id: id, content_hash: digest } = await json(
    ...['create', '--kind', 'mark_manifest', '--type', 'mark_report', '--purpose', 'Report', '--as', 'agent'],
    ...['--key', 'a reviewed change', '--part', 'report:json={"rows": 3}'],
  )
  const { number } = JSON.parse((await change('show', id, '--json')).stdout)
  expect(await change('approve', `#${number}`, '--as', 'reviewer')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Say what you saw with --digest'),
  })
  const requested = await change('request-changes', `#${number}`, 'One row is missing.', '--as', 'reviewer')
  expect(requested).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Changes requested: 0 of 1 approval'),
  })
  expect(
    (await change('approve', String(number), '--digest', digest.slice(0, 12), '--as', 'admin')).stdout,
  ).toContain('Approved: 1 of 1 approval; changes were requested by')
  const { stdout: shown } = await change('reviews', String(number))
  expect(shown).toMatch(/request changes by Reviewer/)
  expect(shown).toMatch(/approve by Admin/)
  const { reviews } = JSON.parse((await change('reviews', String(number), '--json')).stdout)
  const asked = reviews.find(({ verdict }: { verdict: string }) => verdict === 'request_changes')
  const dismissed = await change(
    ...['dismiss-review', String(number), asked.review_id, '--reason', 'checked', '--as', 'admin'],
  )
  expect(dismissed.stdout).toContain('Dismissed: 1 of 1 approval')
  expect(JSON.parse((await change('show', id, '--json')).stdout).status).toBe('approved')
})
