/** The five minutes of README.md, command by command. */
// @module-tag long
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const folder = temporaryHome('example-ads')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
const cli = (command: string) => runCli(command.split(' '), env)
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

async function newest(): Promise<{ upload_id: string; plan_digest: string }> {
  const { stdout } = await cli('upload list --json')
  return JSON.parse(stdout)[0]
}

async function approveAndPromote(): Promise<string> {
  const { upload_id: id, plan_digest: digest } = await newest()
  expect(await cli(`upload approve ${id} --as reviewer --digest ${digest} --tick changes`)).toMatchObject({
    code: 0,
  })
  expect(await cli(`upload promote ${id} --as operator`)).toMatchObject({ code: 0 })
  return id
}

it('a Meta export with three wrong lines goes in, is corrected by the next one, and comes out again', async () => {
  const wrong = await cli('ingest examples/ads/meta-week-45.csv --dataset ads --platform meta --as operator')
  expect(wrong).toMatchObject({ code: 5, stdout: expect.stringContaining('53 valid, 3 invalid') })
  expect(wrong.stdout).toMatch(/16 +Ad ID +1\.20253E\+17/)
  expect(wrong.stdout, 'the totals row points at the wrong value').toContain(
    'line 2: Impressions is 371811, and all lines (56) sum up to 364600: +7211.',
  )
  const { upload_id: id } = await newest()
  const fixed = await cli(`upload repair ${id} --file examples/ads/corrections.csv --as operator`)
  expect(fixed.stdout).toMatch(/56 valid[\s\S]*daily_metrics +56/)
  expect(fixed.stdout).toContain('1 line of the file sums up others: 1 agrees.')
  expect(await cli(`upload submit ${id} --as operator`)).toMatchObject({ code: 0 })
  await approveAndPromote()

  await cli('ingest examples/ads/meta-week-45-corrected.csv --dataset ads --platform meta --as operator')
  const { upload_id: correction } = await newest()
  expect((await cli(`upload plan ${correction} --rows --action update`)).stdout).toContain(
    'spend: 84.12 → 105.15',
  )
  await approveAndPromote()
  expect((await cli(`upload undo ${id} --plan`)).stdout).toMatch(/daily_metrics +– +53 +3/)
  expect(await cli(`upload undo ${correction} --yes --as reviewer`)).toMatchObject({ code: 0 })
  expect(await cli(`upload undo ${id} --yes --as reviewer`)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/reverted\n +campaigns +2\n +ad_sets +4\n +ads +8\n +daily_metrics +56\n/),
  })
})
