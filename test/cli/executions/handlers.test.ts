/** Handlers on the command line: which are missing, who stands still for them, and a rerun that brings them along. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

const db = useDatabase()
const home = temporaryHome('cli-handlers')
const TIMEOUT = { timeout: 300_000 }
const LONG = { ...TIMEOUT, tags: 'long' } as const
let env: Record<string, string>

beforeAll(() => {
  env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    PLAYBOOK_DATABASE_URL: db.url('stagedoor_playbook'),
    STAGEDOOR_HOME: home,
  }
})

const cli = (...args: string[]) => runCli(args, env)
const file = (name: string, text: string) => {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}
const GEO = `name: geo
args: { n: 7 }
steps:
  - { step: names, tool: handler, call: list, args: { n: "\${args.n}" }, next: geocode }
  - step: geocode
    loop: { in: "\${steps.names.result}", as: x, mode: fanout, allow_partial: true }
    tool: handler
    call: geocode
    args: { x: "\${x}" }
    next: report
  - { step: report, tool: handler, call: report, args: { done: "\${steps.geocode.fanin.done}" } }
output: "\${steps.report.result}"
`
/** The first item ends, the others hang; of 7 that fail, 6 are shown by no screen. */
const handlers = (geocode: string, report = 'done') => `export const playbookHandlers = {
  list: ({ n }) => Array.from({ length: n }, (_, i) => i),
  geocode: ({ x }) => { ${geocode} },
  report: ({ done }) => ${report},
}
`

it(
  'a handler that nobody has is named before anything runs, with what was probably meant',
  TIMEOUT,
  async () => {
    const path = file('geo.yaml', GEO)
    const misspelt = file('misspelt.mjs', handlers('return x').replace('geocode:', 'geocod:'))
    const ran = await cli('run', path, '--handlers', misspelt, '--timeout', '6s')
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.stderr).toMatch(/items of geocode wait for the handler geocode, which no running process has/)
    expect(ran.stderr).toMatch(
      /^! The step geocode calls the handler geocode, which no running process has. Did you mean geocod\?\ngeo version/,
    )
    const none = file('none.mjs', 'export default {}\n')
    expect((await cli('run', path, '--handlers', none, '--timeout', '1s')).stderr).toMatch(
      /none.mjs has no export playbookHandlers/,
    )
    const all = file('all.mjs', handlers('return x'))
    expect((await cli('run', path, '--handlers', all)).stderr).not.toContain('!')
  },
)

it('items that failed are shown with their errors, in show and as events', TIMEOUT, async () => {
  const path = file('geo.yaml', GEO)
  const failing = file('failing.mjs', handlers("if (x !== 2) throw new Error('no address for ' + x)"))
  const ran = await cli('run', path, '--handlers', failing, '--json')
  expect(ran).toMatchObject({ code: 0 })
  const id = JSON.parse(ran.stdout).execution_id
  const shown = (await cli('execution', 'show', id)).stdout
  expect(shown).toMatch(
    /Items that failed\n( {2}geocode +item \d +no address for \d\n){5} {2}… and 1 more: .*--failed/,
  )
  const events = (await cli('execution', 'events', id, '--failed')).stdout.trim().split('\n')
  expect(events).toHaveLength(6)
  expect(events.join('\n')).toMatch(/loop.shard.failed +geocode#1 +item 6: no address for 6/)
  const traced = (await cli('execution', 'trace', id)).stdout
  expect(traced).toMatch(/◐ geocode loop.done .*1 done, 6 failed of 7[\s\S]*events \d+ --failed/)
  expect(traced).not.toContain('loop.shard.done')
})

it(
  'looking away says who is needed, and show, wait and engines say what stands still for which handler',
  LONG,
  async () => {
    const path = file('geo.yaml', GEO)
    const hanging = file('hanging.mjs', handlers('return x === 0 ? 0 : new Promise(() => {})'))
    const server = startCli(['worker'], env)
    await server.says(/playbooks driven and run/)
    const run = startCli(['run', path, '--handlers', hanging], env)
    const [, id] = await run.says(/geo version 1 (\d+)/)
    await run.says(/✔ names/)
    // So that the loop has begun for good: one item is done, the rest waits for whoever comes.
    await expect
      .poll(async () => JSON.parse((await cli('execution', 'show', id!, '--json')).stdout).items_done)
      .toBe(1)
    run.child.kill('SIGKILL')
    await expect
      .poll(async () => (await cli('execution', 'show', id!)).stdout)
      .toMatch(/It waits: 6 items of geocode wait for the handler geocode, which no running process has/)
    const waited = await cli('execution', 'wait', id!, '--timeout', '5s')
    expect(waited.stderr).toContain('waiting: 6 items of geocode wait for the handler geocode')
    expect(waited.stdout).toMatch(/It waits[\s\S]*stagedoor worker --handlers FILE/)
    expect((await cli('execution', 'engines')).stdout).toMatch(
      new RegExp(`16 of 16 .*none\\nexecution ${id}: 6 items of geocode wait`),
    )
    await cli('execution', 'cancel', id!)

    const again = startCli(['run', path, '--handlers', hanging], env)
    await again.says(/✔ names/)
    expect(await again.end()).toBe(130)
    expect(again.output()).toMatch(
      /It (waits|goes on until)[\s\S]*geocode[\s\S]*worker --handlers .*hanging.mjs/,
    )
    expect(again.output()).not.toContain('another process drives it')
    await server.end()
  },
)

it(
  'a rerun brings handlers along, runs here, and takes a mended version of the playbook',
  TIMEOUT,
  async () => {
    const good = file('good.mjs', handlers('return x'))
    const bad = file(
      'bad.mjs',
      handlers('return x', "{ throw new Error('no paper') }").replace(
        'report: ({ done }) => {',
        'report: () => {',
      ),
    )
    const first = await cli('run', file('geo.yaml', GEO), '--handlers', bad)
    expect(first).toMatchObject({ code: 1 })
    const [, id] = /rerun (\d+) --from report --version latest/.exec(first.stdout)!
    const rerun = await cli('execution', 'rerun', id!, '--from', 'report', '--handlers', good)
    expect(rerun).toMatchObject({ code: 0, stdout: expect.stringMatching(/✔ completed in .*\n7/) })
    expect(rerun.stderr).toMatch(/✔ report/)
    expect(rerun.stderr).not.toMatch(/✔ names/)
    const told = await cli('execution', 'rerun', id!, '--from', 'report')
    expect(told.stderr).toContain('calls the handler report, which no running process has')
    const mended = GEO.replace('output: "${steps.report.result}"', 'output: { n: "${args.n}" }')
    await cli('playbook', 'register', file('geo.yaml', mended))
    const latest = ['execution', 'rerun', id!, '--from', 'report', '--handlers', good, '--version']
    expect((await cli(...latest, 'latest')).stdout).toMatch(/"n": 7/)
    expect((await cli(...latest, '1')).stdout).toMatch(/in .*\n7/)
    expect(await cli(...latest, '9')).toMatchObject({ code: 8 })
  },
)

it('a rejection that nobody handled names the steps in hand and gives the lease back', TIMEOUT, async () => {
  const stray = file(
    'stray.mjs',
    `export const playbookHandlers = {
       begin: async () => {
         void Promise.reject(new Error('nobody caught me'))
         await new Promise(() => setTimeout(() => {}, 60_000))
       },
     }`,
  )
  const path = file('stray.yaml', 'name: stray\nsteps:\n  - { step: begin, tool: handler, call: begin }\n')
  const worker = startCli(['worker', '--handlers', stray, '--no-search'], env)
  await worker.says(/Working/)
  const begun = await cli('run', path, '--detach', '--json')
  const { execution_id } = JSON.parse(begun.stdout) as { execution_id: string }
  await until('it has ended', () => worker.child.exitCode !== null)
  expect(worker.child.exitCode).toBe(1)
  expect(worker.output()).toContain('one of these steps may be the cause')
  expect(worker.output()).toContain(`${execution_id}:begin#1`)
  expect(worker.output()).toContain('nobody caught me')
  // At once, not when the lease has passed.
  expect(await db.owner('select from noetl.engine')).toEqual([])
  expect(await db.owner('select from iu_core.job_worker')).toEqual([])
})
