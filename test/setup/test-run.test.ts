/** The runner of the tests, as it is called: what it runs, installs and lists. */
// @module-tag long
import { expect, test } from 'vitest'
import { Checkout } from './checkout.ts'

/** The real runner and the real vitest, with a table of programs of our own and an installer that notes its calls. */
const RUN = `import { appendFileSync } from 'node:fs'
import { runTests } from './scripts/test-run.mjs'
const browser = { program: 'browser', env: 'BROWSER_PATH', debianPackage: 'a-browser', suites: ['test/console'] }
const programs = [{ ...browser, find: () => process.env.FOUND }]
const install = async ({ program }) => appendFileSync('journal', 'install ' + program + '\\n')
const length = process.env.LENGTH
process.exitCode = await runTests({ root: '.', argv: process.argv.slice(2), length, programs, install })
`

const PASSING = "import { test } from 'vitest'\ntest('passes', () => {})\n"

/** As in this repository: two projects, and the second runs a part of the suites again. */
const CONFIG = `export default { test: { projects: [
  { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } },
  { extends: true, test: { name: 'again', include: ['test/again/**/*.test.ts'] } },
] } }
`

function checkoutWithTests(files: Record<string, string>): Checkout {
  const checkout = new Checkout()
  checkout.linkVitest()
  checkout.write('run.mjs', RUN)
  checkout.write('vitest.config.mjs', CONFIG)
  for (const [path, text] of Object.entries(files)) checkout.write(path, text)
  return checkout
}

const lines = (text: string) => text.split('\n')

/** As in this repository: tags divide the tests between two runs. */
const DIVIDED = `const long = process.env.TEST_LENGTH === 'long'
export default { test: { tags: [{ name: 'long' }, { name: 'property' }], projects: [
  { extends: true, test: { name: 'all', include: ['test/*.test.ts'], tagsFilter: [long ? 'long || property' : '!long'] } },
] } }
`

test('the numbers stand alone on their line', async () => {
  const more =
    "test('fails', () => { throw new Error('no') })\ntest.skip('later', () => {})\ntest.todo('one day')\n"
  const files = {
    'test/a.test.ts': PASSING + more,
    'test/b.test.ts': PASSING,
    'test/again/c.test.ts': PASSING,
  }
  const checkout = checkoutWithTests(files)
  const all = await checkout.run('run.mjs')
  expect(all.code).toBe(1)
  expect(lines(all.stdout)).toContain('Tests: 4 passed, 1 failed, 2 skipped')
  const one = await checkout.run('run.mjs', ['test/b'])
  expect(one.code).toBe(0)
  expect(lines(one.stdout)).toContain('Tests: 1 passed, 0 failed')
})

test('a test belongs to one run or to both, and is never called skipped by the other', async () => {
  const tagged =
    "test('takes long', { tags: 'long' }, () => {})\ntest('has cases', { tags: 'property' }, () => {})\n"
  const checkout = checkoutWithTests({ 'test/a.test.ts': PASSING + tagged, 'vitest.config.mjs': DIVIDED })
  const short = await checkout.run('run.mjs')
  expect(short.code).toBe(0)
  expect(short.stdout).toContain(
    'Tests: 2 passed, 0 failed\n1 more tests of these files run with npm run test:long.\n',
  )
  const long = await checkout.run('run.mjs', [], { LENGTH: 'long' })
  expect(long.stdout).toContain('Tests: 2 passed, 0 failed\n1 more tests of these files run with npm test.\n')
})

test('the slowest files are listed before the numbers, with the time of the whole run', async () => {
  const slow =
    "import { test } from 'vitest'\ntest('slow', () => new Promise((done) => setTimeout(done, 4000)))\n"
  const checkout = checkoutWithTests({ 'test/a.test.ts': PASSING, 'test/b.test.ts': slow })
  const { stdout } = await checkout.run('run.mjs')
  expect(stdout).toMatch(
    /\nSlowest files:\n +[1-9]\d*\.\d s {2}all {2}test\/b\.test\.ts\n +\d+\.\d s {2}all {2}test\/a\.test\.ts\nTotal: \d+ min \d+ s for 2 files\n\nTests: 2 passed/,
  )
})

/** Fails when it runs for the first time in this checkout. */
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
test('fails once', () => {
  if (existsSync('ran')) return
  writeFileSync('ran', '')
  throw new Error('the first time')
})
`
const FAILING = "import { test } from 'vitest'\ntest('fails', () => { throw new Error('always') })\n"

test('in CI a file that failed runs once more, alone; if it passes then, it is listed as unstable', async () => {
  const files = { 'test/a.test.ts': `${FAILS_ONCE}test('passes', () => {})\n`, 'test/b.test.ts': PASSING }
  const { code, stdout, stderr } = await checkoutWithTests(files).run('run.mjs', [], {
    CI: 'true',
    FOUND: 'x',
  })
  expect(stdout + stderr).toContain('the first time')
  expect(stdout).toContain(
    'Tests: 3 passed, 0 failed\nUNSTABLE all test/a.test.ts failed among the others (see above) and passed alone',
  )
  expect(code).toBe(0)
  const elsewhere = await checkoutWithTests(files).run('run.mjs', [])
  expect(elsewhere.code).toBe(1)
  expect(elsewhere.stdout).not.toContain('UNSTABLE')
})

test.each([
  ['fails again', { 'test/a.test.ts': FAILING, 'test/b.test.ts': PASSING }, 1],
  ['is one of many', { 'test/a.test.ts': FAILING, 'test/b.test.ts': FAILING, 'test/c.test.ts': FAILING }, 3],
])('in CI a file that %s fails the run', async (_, files, failed) => {
  const { code, stdout } = await checkoutWithTests(files).run('run.mjs', [], { CI: 'true', FOUND: 'x' })
  expect(stdout).toContain(`, ${failed} failed\n`)
  expect(stdout).not.toContain('UNSTABLE')
  expect(code).toBe(1)
})

test('a test file that cannot be loaded counts as failed', async () => {
  const checkout = checkoutWithTests({ 'test/a.test.ts': PASSING, 'test/b.test.ts': "import './missing.ts'" })
  const { code, stdout } = await checkout.run('run.mjs')
  expect(code).toBe(1)
  expect(lines(stdout)).toContain('Tests: 1 passed, 1 failed')
})

test('an error outside any test fails the run although every test passed', async () => {
  const outside = "setTimeout(() => { throw new Error('outside') })\nimport { afterAll } from 'vitest'\n"
  const wait = 'afterAll(() => new Promise((done) => setImmediate(() => setTimeout(done, 5))))\n'
  const checkout = checkoutWithTests({ 'test/a.test.ts': outside + wait + PASSING })
  const { code, stdout } = await checkout.run('run.mjs')
  expect(code).toBe(1)
  expect(stdout).toContain('Tests: 1 passed, 0 failed\nNo test failed, but vitest ended with 1')
})

/** As a forked worker of vitest sometimes does: it ends its file, and vitest is not told. */
const SILENT = `const send = process._send
process._send = function (message, ...rest) {
  return message?.type === 'testfileFinished' ? true : send.call(this, message, ...rest)
}
`

test('a worker that does not tell vitest that its file has ended is killed, and the results count', async () => {
  const files = { 'test/a.test.ts': SILENT + PASSING, 'test/b.test.ts': PASSING }
  const { code, stdout, stderr } = await checkoutWithTests(files).run('run.mjs', [], {
    STAGEDOOR_TEST_IDLE_MS: '1000',
  })
  expect(stderr).toContain('were killed (scripts/test-watchdog.mjs); no file was running')
  expect(stdout).toContain(
    'Tests: 2 passed, 0 failed\nA worker of vitest was killed after its file had ended',
  )
  expect(code).toBe(0)
})

test('a test that blocks its process is named, its worker killed and the run fails', async () => {
  const blocks = "import { test } from 'vitest'\ntest('blocks', () => { for (;;); })\n"
  const files = { 'test/a.test.ts': blocks, 'test/b.test.ts': PASSING }
  const { code, stdout, stderr } = await checkoutWithTests(files).run('run.mjs', [], {
    STAGEDOOR_TEST_STALL_MS: '3000',
  })
  expect(stderr).toMatch(/were killed .*; running:\n {2}all test\/a\.test\.ts/)
  expect(stdout).toContain('Tests: 1 passed, 1 failed')
  expect(code).toBe(1)
})

/** Blocks its process when it runs for the first time in this checkout. */
const BLOCKS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'vitest'
test('blocks once', () => {
  if (existsSync('ran')) return
  writeFileSync('ran', '')
  for (;;);
})
`

test('in CI a file whose worker was killed runs once more, alone', async () => {
  const files = { 'test/a.test.ts': BLOCKS_ONCE, 'test/b.test.ts': PASSING }
  const settings = { CI: 'true', FOUND: 'x', STAGEDOOR_TEST_STALL_MS: '3000' }
  const { code, stdout, stderr } = await checkoutWithTests(files).run('run.mjs', [], settings)
  expect(stderr).toContain('were killed (scripts/test-watchdog.mjs); running:')
  expect(stdout).toContain('Tests: 2 passed, 0 failed\nUNSTABLE all test/a.test.ts')
  expect(code).toBe(0)
})

/** As `timeout` of .ci/run does to the whole run. */
const CUT_OFF =
  "import { test } from 'vitest'\ntest('waits', () => new Promise(() => { process.kill(process.ppid, 'SIGTERM') }), 60_000)\n"

test('a run that is cut off names what was running', async () => {
  const { code, stderr } = await checkoutWithTests({ 'test/a.test.ts': CUT_OFF }).run('run.mjs')
  expect(stderr).toContain('The run was cut off; running:\n  all test/a.test.ts')
  expect(code).toBe(143)
})

/** As under memory pressure: the worker dies before it runs its file. */
const DIES = "import { test } from 'vitest'\nprocess.kill(process.pid, 'SIGKILL')\ntest('never', () => {})\n"

test('a file that did not run, because its worker died, counts as failed', async () => {
  const files = { 'test/a.test.ts': PASSING, 'test/b.test.ts': DIES }
  const { code, stdout } = await checkoutWithTests(files).run('run.mjs')
  expect(stdout).toContain('Tests: 1 passed, 1 failed')
  expect(code).toBe(1)
})

test('a run without any test fails', async () => {
  const { code, stdout } = await checkoutWithTests({ 'test/a.test.ts': PASSING }).run('run.mjs', ['nowhere'])
  expect(code).toBe(1)
  expect(stdout).toContain('Tests: 0 passed, 0 failed\nNo test ran.')
})

const SUITES = { 'test/a.test.ts': PASSING, 'test/console/page.test.ts': PASSING }
const NOT_RUN = 'NOT RUN  test/console  needs browser: apt-get install a-browser'

test('a suite whose program cannot be had is named as not run, after the numbers', async () => {
  const checkout = checkoutWithTests(SUITES)
  const { code, stdout } = await checkout.run('run.mjs')
  expect(code).toBe(0)
  expect(stdout).toContain(`\nTests: 1 passed, 0 failed\n${NOT_RUN}\n`)
  expect(checkout.journal()).toEqual(['install browser'])
})

test('with CI=true a suite that was not run fails the run', async () => {
  const { code, stdout } = await checkoutWithTests(SUITES).run('run.mjs', [], { CI: 'true' })
  expect(code).toBe(1)
  expect(lines(stdout)).toContain(NOT_RUN)
  expect(stdout).toContain('With CI=true every suite must run')
})

test('a program is neither looked for nor installed when no chosen suite needs it', async () => {
  const checkout = checkoutWithTests(SUITES)
  const { code, stdout } = await checkout.run('run.mjs', ['test/a', '-t', 'passes'], { CI: 'true' })
  expect(code).toBe(0)
  expect(stdout).not.toContain('NOT RUN')
  expect(checkout.journal()).toEqual([])
})

test('a program that is found is told to its suite', async () => {
  const asks =
    "import { expect, test } from 'vitest'\ntest('told', () => expect(process.env.BROWSER_PATH).toBe('/b'))\n"
  const checkout = checkoutWithTests({ 'test/console/page.test.ts': asks })
  const { code, stdout } = await checkout.run('run.mjs', [], { FOUND: '/b', CI: 'true' })
  expect(code).toBe(0)
  expect(lines(stdout)).toContain('Tests: 1 passed, 0 failed')
  expect(checkout.journal()).toEqual([])
})

test('a path set by hand that cannot be run is named, and nothing is installed over it', async () => {
  const checkout = checkoutWithTests(SUITES)
  const { stdout } = await checkout.run('run.mjs', [], { BROWSER_PATH: '/nowhere/browser' })
  expect(stdout).toContain('needs browser: BROWSER_PATH is /nowhere/browser, which cannot be run')
  expect(checkout.journal()).toEqual([])
})
