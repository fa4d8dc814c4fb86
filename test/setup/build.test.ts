import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Checkout } from './checkout.ts'

const BUILD = 'scripts/build.mjs'

/** A checkout whose dependencies and builds are up to date, with an empty journal. */
async function builtCheckout(): Promise<Checkout> {
  const checkout = new Checkout()
  expect(await checkout.run(BUILD)).toMatchObject({ code: 0, stdout: '' })
  checkout.remove('journal')
  return checkout
}

test('the first build makes product and console, and the product can be executed', async () => {
  const checkout = new Checkout()
  const { code, stderr } = await checkout.run(BUILD)
  expect(code).toBe(0)
  expect(stderr).toMatch(/Building the product…\n {2}done in \d+\.\d s/)
  expect(checkout.journal().slice(1)).toEqual(['dist', 'console'])
  expect(checkout.read('console/dist/index.html')).toBe('<p>console</p>')
  expect(statSync(join(checkout.root, 'dist/cli/main.js')).mode & 0o111).toBe(0o111)
})

test('nothing is built again while nothing has changed', async () => {
  const checkout = await builtCheckout()
  expect(await checkout.run(BUILD)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(checkout.journal()).toEqual([])
})

test('a changed source builds only what is made from it', async () => {
  const checkout = await builtCheckout()
  checkout.write('console/index.html', '<p>changed</p>')
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['console'])
  checkout.write('src/added.ts', '')
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['console', 'dist'])
  checkout.remove('src/added.ts')
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['console', 'dist', 'dist'])
})

test('a new version in package.json builds again', async () => {
  const checkout = await builtCheckout()
  checkout.write('package.json', checkout.read('package.json').replace('1.0.0', '1.0.1'))
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['dist', 'console'])
})

test('an output that was deleted is built again, and --force always builds', async () => {
  const checkout = await builtCheckout()
  checkout.remove('dist')
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['dist'])
  await checkout.run(BUILD, ['--force'])
  expect(checkout.journal()).toEqual(['dist', 'dist', 'console'])
})

test('a failing build shows what the compiler said and keeps the last good output', async () => {
  const checkout = await builtCheckout()
  const good = checkout.read('dist/cli/main.js')
  checkout.write('src/cli/main.ts', 'wrong')
  checkout.write('broken', '')
  const failed = await checkout.run(BUILD)
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('main.ts(1,1): error TS1: broken')
  expect(failed.stderr).toContain('dist could not be built.')
  expect(checkout.read('dist/cli/main.js')).toBe(good)

  checkout.remove('broken')
  expect((await checkout.run(BUILD)).code).toBe(0)
  expect(checkout.read('dist/cli/main.js')).toBe('wrong')
})

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a build ended by %s is never taken for a finished one',
  async (signal) => {
    const checkout = await builtCheckout()
    const good = checkout.read('dist/cli/main.js')
    checkout.write('src/cli/main.ts', 'changed')
    checkout.write('hold', '')
    const { child, ended } = checkout.start(BUILD)
    await vi.waitUntil(() => checkout.journal().length === 1, { timeout: 60_000 })
    child.kill(signal)
    expect((await ended).signal).toBe(signal)
    expect(checkout.read('dist/cli/main.js')).toBe(good)

    checkout.remove('hold')
    const next = await checkout.run(BUILD)
    expect(next).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Waiting') })
    expect(checkout.read('dist/cli/main.js')).toBe('changed')
    expect(checkout.journal()).toEqual(['dist', 'dist'])
  },
)

test('a source that changes during the build is built again by the next command', async () => {
  const checkout = await builtCheckout()
  checkout.write('src/cli/main.ts', 'first')
  checkout.write('hold', '')
  const { ended } = checkout.start(BUILD)
  await vi.waitUntil(() => checkout.journal().length === 1, { timeout: 60_000 })
  checkout.write('src/other.ts', 'second')
  checkout.remove('hold')
  await ended
  await checkout.run(BUILD)
  expect(checkout.journal()).toEqual(['dist', 'dist'])
})

test('two at once: one builds, the other waits and finds it done', async () => {
  const checkout = await builtCheckout()
  checkout.write('src/cli/main.ts', 'changed')
  checkout.write('hold', '')
  const first = checkout.start(BUILD)
  await vi.waitUntil(() => checkout.journal().length === 1, { timeout: 60_000 })
  const second = checkout.start(BUILD)
  await vi.waitUntil(() => second.output.stderr.includes('Waiting for another set-up'), { timeout: 60_000 })
  expect(second.output.stderr).toContain(`process ${first.child.pid}`)
  checkout.remove('hold')
  expect(await first.ended).toMatchObject({ code: 0 })
  expect(await second.ended).toMatchObject({ code: 0 })
  expect(checkout.journal()).toEqual(['dist'])
  expect(checkout.read('dist/cli/main.js')).toBe('changed')
})

test('many that find the lock of a dead process at once still build once', async () => {
  const checkout = await builtCheckout()
  checkout.write('src/cli/main.ts', 'changed')
  checkout.write('hold', '')
  const dead = checkout.start(BUILD)
  await vi.waitUntil(() => checkout.journal().length === 1, { timeout: 60_000 })
  dead.child.kill('SIGKILL')
  await dead.ended
  checkout.remove('hold')
  const runs = await Promise.all(Array.from({ length: 6 }, () => checkout.run(BUILD)))
  expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0))
  expect(checkout.journal()).toEqual(['dist', 'dist'])
})

test('an unknown option is refused', async () => {
  const { code, stderr } = await new Checkout().run(BUILD, ['--fast'])
  expect(code).toBe(2)
  expect(stderr).toContain('--fast is not an option of build.')
})
