/** What the command line says of an upload that does not go through, and how it ends. */
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
}, 120_000)
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
    stderr: expect.stringMatching(/is staged, and is not taken further[\s\S]*stagedoor upload show/),
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
  const [, id] = /stagedoor upload fix (\S+) --file wrong-lines.csv --as operator\n/.exec(stdout)!
  const exported = await upload('export', id!, '-o', join(folder, 'out.csv'))
  expect(exported.stdout).toMatch(/upload fix \S+ --file \S+ --as operator/)
  expect((await upload('show', id!, '--as', 'viewer')).stdout).toMatch(/--on-invalid skip.* --as operator/)
})
