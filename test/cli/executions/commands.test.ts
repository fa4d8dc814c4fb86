/** Playbooks on the command line, on a database of the user's own: what is printed, how it ends, what is refused. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('cli-executions')
const TIMEOUT = { timeout: 300_000 }
const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))
const file = (name: string, text: string) => {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}
let env: Record<string, string>
let workspace: string

beforeAll(async () => {
  env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    PLAYBOOK_DATABASE_URL: db.url('stagedoor_playbook'),
    STAGEDOOR_HOME: home,
  }
  workspace = await createWorkspace(db, 'Acme')
  await createMember(db, workspace, 'operator')
  await createMember(db, workspace, 'viewer')
})

const cli = (...args: string[]) => runCli(args, env)
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}
const HANDLERS = `let failed = false
export const playbookHandlers = {
  greet: ({ name }) => 'hello ' + name,
  once: () => { if (!failed) { failed = true; throw new Error('not yet') } return 1 },
  never: () => { throw new Error('the truck is broken') },
  slowly: (_, { signal }) => new Promise((resolve, reject) => {
    setTimeout(resolve, 60_000).unref()
    signal.addEventListener('abort', () => reject(signal.reason))
  }),
}
`
const FLAKY = `name: flaky
args: { name: world }
steps:
  - { step: greet, tool: handler, call: greet, args: { name: "\${args.name}" }, next: once }
  - { step: once, tool: handler, call: once, retry: { attempts: 2, backoff: 10ms }, next: never }
  - { step: never, tool: handler, call: never }
`

it('where there is nothing, it says how to begin', TIMEOUT, async () => {
  expect((await cli('execution', 'list')).stdout).toMatch(/No execution here[\s\S]*fn_execution_start/)
  expect((await cli('playbook', 'list')).stdout).toMatch(/No playbook here[\s\S]*name: hello/)
})

it(
  'a file is registered and run with nothing else running; its steps and its result are shown',
  TIMEOUT,
  async () => {
    const ran = await cli(
      'run',
      example('hello-playbook/playbook.yaml'),
      '--set',
      'name=Ada',
      '--set',
      'times=2',
    )
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 })
    expect(ran.stderr).toMatch(
      /hello version 1 \d+\n {2}✔ ask .*\n {2}✔ say +2 items[\s\S]*✔ rest[\s\S]*✔ close/,
    )
    expect(ran.stdout).toMatch(/✔ completed in .*\n\{[\s\S]*"hello, Ada no. 2"/)
    const [execution] = await json('execution', 'list')
    expect(execution).toMatchObject({ playbook: 'hello', status: 'COMPLETED', items: 2 })
    const id = execution.execution_id
    expect((await cli('execution', 'list', '--status', 'completed')).stdout).toMatch(
      new RegExp(`${id} +✔ completed +hello`),
    )
    expect((await cli('execution', 'show', id)).stdout).toMatch(
      /✔ completed {2}hello[\s\S]*✔ say +complete .*2 done/,
    )
    expect((await cli('execution', 'events', id, '--no-items')).stdout).not.toContain('loop.item')
    expect((await cli('execution', 'trace', id)).stdout).toMatch(
      /playbook.completed[\s\S]*close[\s\S]*ask[\s\S]*playbook.initialized/,
    )
    expect((await cli('playbook', 'show', 'hello')).stdout).toMatch(/│ ask +│ sql[\s\S]*▼[\s\S]*│ say/)
    expect((await cli('execution', 'rebuild', '--all', '--verify')).stdout).toContain(
      'The projection agrees with the log of one execution',
    )
    expect(await cli('execution', 'list', '--playbook', 'helo')).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('no playbook helo'),
    })
    expect((await cli('execution', 'list', '--status', 'failed')).stdout).toContain('No such execution')
    expect(await json('execution', 'rebuild', '--all')).toEqual({ rebuilt: 1 })
    expect(await json('run', example('hello-playbook/playbook.yaml'))).toMatchObject({
      version: 1,
      status: 'COMPLETED',
    })
  },
)

it(
  'a run that fails says where, exits with 1, and goes on from there when it is told to',
  TIMEOUT,
  async () => {
    const handlers = file('handlers.mjs', HANDLERS)
    const playbook = file('flaky.yaml', FLAKY)
    const ran = await cli('run', playbook, '--handlers', handlers)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/✔ greet[\s\S]*✔ once .*attempt 2[\s\S]*✖ never +the truck is broken/)
    expect(ran.stdout).toMatch(/✖ failed after .*the truck is broken[\s\S]*rerun \d+ --from never/)
    const [, id] = /rerun (\d+)/.exec(ran.stdout)!
    const shown = await cli('execution', 'show', id!)
    expect(shown.stdout).toMatch(/✖ failed {2}flaky[\s\S]*✖ never +failed/)
    expect(await cli('execution', 'rerun', id!, '--from', 'nowhere')).toMatchObject({ code: 8 })
    const again = await json('execution', 'rerun', id!, '--from', 'never')
    expect(again).toMatchObject({ rerun_of: id, from_step: 'never' })
    expect(await cli('execution', 'wait', again.execution_id, '--timeout', '1s')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No engine runs'),
      stdout: expect.stringContaining('waits'),
    })
    expect(await json('execution', 'cancel', again.execution_id, '--reason', 'enough')).toMatchObject({
      outcome: 'cancelled',
    })
    const worker = startCli(['worker', '--handlers', handlers], env)
    await worker.says(/playbooks driven and run, with greet, once, never, slowly; 50 steps and items at once/)
    const cancelled = await cli('execution', 'wait', again.execution_id)
    expect(cancelled).toMatchObject({ code: 6, stdout: expect.stringMatching(/cancelled by .*: enough/) })
    expect(await worker.end()).toBe(0)
  },
)

it('Ctrl-C looks away: what runs elsewhere goes on, and what was done is not lost', TIMEOUT, async () => {
  const waiting = 'name: waiting\nsteps:\n  - { step: rest, wait: { for: 2d } }\n'
  const run = startCli(['run', file('waiting.yaml', waiting)], env)
  const [, id] = await run.says(/waiting version 1 (\d+)/)
  await run.says(/rest +waits until/)
  expect(await run.end()).toBe(130)
  expect(run.output()).toMatch(/It waits[\s\S]*stagedoor execution wait/)
  expect(await json('execution', 'show', id!)).toMatchObject({
    status: 'RUNNING',
    steps: [{ wait: { kind: 'timer' } }],
  })
  expect((await cli('execution', 'pause', id!)).stdout).toMatch(/Pause is requested[\s\S]*execution resume/)
  expect((await cli('execution', 'pause', id!)).stdout).toContain('Pause is requested')
  const server = startCli(['worker'], env)
  await server.says(/playbooks driven and run/)
  await expect
    .poll(async () => (await cli('execution', 'pause', id!)).stdout)
    .toContain('It is paused already')
  expect((await cli('execution', 'wait', id!, '--timeout', '1s')).stdout).toMatch(
    /It is paused[\s\S]*execution resume/,
  )
  await server.end()
  expect(await cli('execution', 'pause', 'abc')).toMatchObject({ code: 2 })
})

it('every problem of a file is shown with its line and a mark below the place', TIMEOUT, async () => {
  const bad = file('bad.yaml', 'name: bad\nsteps:\n  - step: a\n    tool: sqll\n    next: b\n')
  const checked = await cli('playbook', 'check', bad)
  expect(checked.code).toBe(2)
  expect(checked.stdout).toMatch(
    /bad\.yaml:4:11 .*\n.*Did you mean sql\?\n {2}4 │ {5}tool: sqll\n {4}│ {11}\^/,
  )
  expect(checked.stdout).toMatch(/bad\.yaml:5:11 [\s\S]*there is no step b[\s\S]*2 errors/)
  expect(await cli('run', bad)).toMatchObject({ code: 2, stderr: expect.stringMatching(/bad\.yaml:5:11/) })
  expect(await cli('playbook', 'register', bad)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/bad\.yaml:5:11/),
  })
  expect(await cli('run', join(home, 'none.yaml'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no file'),
  })
  expect(await cli('run', 'nobody')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('no playbook nobody'),
  })
  const hello = example('hello-playbook/playbook.yaml')
  expect(await cli('run', hello, '--set', 'nam=1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It takes name, times'),
  })
  expect((await cli('playbook', 'schema')).stdout).toContain('"$schema"')
})

it('members run what is open to them, in their workspace; viewers do not', TIMEOUT, async () => {
  const greet = 'name: greet\nsteps:\n  - { step: ask, tool: sql, args: { query: select 1 } }\n'
  const path = file('greet.yaml', greet)
  expect(await json('playbook', 'register', path)).toMatchObject({
    name: 'greet',
    version: 1,
    open_to_members: false,
  })
  const member = ['--as', 'operator', '--workspace', 'Acme']
  expect(await cli('run', 'greet', ...member)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Only the back end may start'),
  })
  expect(await json('playbook', 'register', path, '--open-to-members')).toMatchObject({
    version: 1,
    open_to_members: true,
    is_new: false,
  })
  expect(await cli('run', 'greet', ...member)).toMatchObject({ code: 0 })
  expect(await cli('run', 'greet', '--as', 'viewer', '--workspace', 'Acme')).toMatchObject({ code: 5 })
  const [own] = await json('execution', 'list', '--as', 'viewer', '--workspace', 'Acme')
  expect(own).toMatchObject({ playbook: 'greet', workspace_id: workspace })
  await json('playbook', 'disable', 'greet')
  expect(await cli('run', 'greet')).toMatchObject({ code: 8, stderr: expect.stringContaining('disabled') })
})
