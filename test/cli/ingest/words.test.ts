/** What the command line says of an upload that does not go through, and how it ends. */
// @module-tag long
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const folder = temporaryHome('cli-words')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
let server: RunningCli

const HEADER = 'Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Link clicks'
const line = (ad: number, spend: string) => `Winter boots,Retarget,Ad ${ad},2026-11-09,${spend},2000,31`
const META = ['--dataset', 'ads', '--platform', 'meta']

function file(name: string, lines: readonly string[]): string {
  const path = join(folder, name)
  writeFileSync(path, [HEADER, ...lines].join('\n'))
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

it('a line that repeats another is wrong as a whole: no column, no value', async () => {
  const path = file('repeats.csv', [line(1, '1.00'), line(2, '2.00'), line(1, '1.50')])
  const { code, stdout } = await cli('ingest', path, ...META, '--as', 'operator')
  expect(code).toBe(5)
  expect(stdout).toMatch(/✖ +2 +whole line +– +/)
})

it('the same wrong bytes are refused again, and so are those that wait; what is there is fine', async () => {
  const wrong = file('wrong.csv', [line(1, 'lots'), line(2, '2.00')])
  for (const turn of ['first', 'again']) {
    const { code, stderr } = await cli('ingest', wrong, ...META, '--as', 'operator')
    expect({ turn, code, stderr }).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('cannot be promoted'),
    })
  }
  expect((await cli('ingest', wrong, ...META, '--until', 'planned')).code).toBe(0)

  const staged = file('staged.csv', [line(3, '3.00')])
  expect((await cli('ingest', staged, ...META, '--until', 'staged')).code).toBe(0)
  expect(await cli('ingest', staged, ...META)).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /already uploaded, as upload \S+, which is staged[\s\S]*stagedoor upload show/,
    ),
  })
})

it('leaving out more lines than is usual ends with 5 and names the share that would do', async () => {
  const lines = [...[1, 2, 3, 4].map((ad) => line(ad, '5.00')), line(5, 'lots'), line(6, 'more')]
  const { stdout } = await cli('ingest', file('half.csv', lines), ...META, '--as', 'operator')
  const [, id, rest] = /stagedoor upload plan (\S+) (--on-invalid skip.*)/.exec(stdout)!
  expect(rest).toBe('--on-invalid skip --threshold 0.66 --as operator')

  const refused = await upload('plan', id!, '--on-invalid', 'skip', '--as', 'operator')
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('--threshold 0.66') })
  expect(refused.stdout).not.toContain('✔ Planned')
  expect((await upload('plan', id!, ...rest!.split(' '))).code).toBe(0)
})

it('every hint names whoever is to act', async () => {
  const path = file('named.csv', [line(7, '7.00'), line(8, 'lots')])
  const { stdout } = await cli('ingest', path, ...META)
  const [, id] = /stagedoor upload repair (\S+) --file wrong-lines.csv --as operator\n/.exec(stdout)!
  const exported = await upload('export', id!, '-o', join(folder, 'out.csv'))
  expect(exported.stdout).toMatch(/upload repair \S+ --file \S+ --as operator/)
  expect((await upload('show', id!, '--as', 'viewer')).stdout).toMatch(/--on-invalid skip.* --as operator/)
})

it('what does not fit is said with its headers and the command that maps one; it can be discarded', async () => {
  const path = join(folder, 'people.csv')
  writeFileSync(path, 'Name,Street\nAda,St James Square\n')
  const { code, stderr } = await cli('ingest', path, ...META, '--as', 'operator')
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /The file has “Name”, “Street”\.[\s\S]*dataset map ads --platform meta --set "\S+ ?\S*=\w+" --as operator/,
    ),
  })
  const list = await upload('list', '--status', 'failed', '--json')
  const [{ upload_id: id }] = JSON.parse(list.stdout)
  expect((await upload('show', id)).stdout).toContain(`stagedoor upload discard ${id} --as operator`)
  expect((await upload('discard', id, '--as', 'operator')).code).toBe(0)

  const unknown = await cli('dataset', 'map', 'ads', '--platform', 'meta', '--set', 'Name=nonsense')
  expect(unknown.stderr).toMatch(/no field nonsense; it has .*campaign_name/)

  const junk = join(folder, 'junk.csv')
  writeFileSync(
    junk,
    Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * at * 7 + at * 31 + 80) % 251)),
  )
  expect((await cli('ingest', junk, ...META)).stderr).toContain('it is not a text file')
})

it('values, names and pages are written for people', async () => {
  expect((await cli('dataset', 'register', 'ads', '--no-approval')).code).toBe(0)
  const fields = (await cli('dataset', 'show', 'ads', '--json')).stdout
  expect(Object.keys(JSON.parse(fields).definition.fields).slice(0, 2)).toEqual([
    'campaign_id',
    'campaign_name',
  ])

  const first = file('first.csv', [line(21, '64.2'), line(22, 'n/a')])
  const ingested = await cli('ingest', first, ...META, '--as', 'operator')
  expect(ingested).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/n\/a +This stands for no number/),
  })
  const [, id] = /stagedoor upload undo (\S+)/.exec(ingested.stdout)!
  const page = await upload('lineage', id!, '--limit', '2', '--as', 'operator')
  expect(page.stdout).toMatch(
    new RegExp(`2 of 6 rows\\n  More: stagedoor upload lineage ${id} --as operator --limit 2 --after \\S+`),
  )

  const second = file('second.csv', [line(21, '80.25')])
  const dry = await cli('ingest', second, ...META, '--dry-run')
  const [, plan] = /stagedoor upload plan (\S+) --rows/.exec(dry.stdout)!
  expect((await upload('plan', plan!, '--rows')).stdout).toContain('spend: 64.20 → 80.25')

  const events = await cli('event', 'list')
  expect(events.stdout).toMatch(/^when +what +who +id +about\n/)
  expect(events.stdout).toMatch(/staging\.ingestion_complete +Operator/)
})
