import { expect, test, vi } from 'vitest'
import { Checkout } from './checkout.ts'

test('npm start becomes `stagedoor start` with the same arguments', async () => {
  const { code, stdout } = await new Checkout().run('scripts/start.mjs', ['--demo'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual(['start', '--demo'])
})

test('npm run stagedoor prints what the product prints and ends as the product ends', async () => {
  const checkout = new Checkout()
  checkout.write('src/cli/main.ts', "console.log('out'); console.error('err'); process.exitCode = 7")
  const first = await checkout.run('scripts/stagedoor.mjs', ['doctor'])
  expect(first).toMatchObject({ code: 7, stdout: 'out\n' })
  expect(first.stderr).toContain('Building the product…')
  expect(await checkout.run('scripts/stagedoor.mjs')).toMatchObject({
    code: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  })
})

test('npm run bench leaves stdout to the benchmark', async () => {
  const { code, stdout } = await new Checkout().run('scripts/bench.mjs', ['outbox', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual(['outbox', '--json'])
})

/** Says which signals it got; ends after SIGTERM or SIGUSR2, so that a test can look at what came before. */
const LISTENING = `
const timer = setInterval(() => {}, 1000)
process.on('SIGINT', () => console.log('SIGINT'))
for (const last of ['SIGTERM', 'SIGUSR2']) process.on(last, () => { console.log(last); clearInterval(timer) })
console.log('ready')
`

test('Ctrl-C reaches the product once, although the terminal and npm both send it', async () => {
  const checkout = new Checkout()
  checkout.write('src/cli/main.ts', LISTENING)
  const { child, ended, output } = checkout.start('scripts/start.mjs')
  await vi.waitUntil(() => output.stdout.includes('ready'), { timeout: 60_000 })
  child.kill('SIGINT')
  await vi.waitUntil(() => output.stdout.includes('SIGINT'), { timeout: 60_000 })
  child.kill('SIGINT')
  child.kill('SIGUSR2')
  expect(await ended).toMatchObject({ code: 0, stdout: 'ready\nSIGINT\nSIGUSR2\n' })
})

test('when npm is ended the product stops cleanly too', async () => {
  const checkout = new Checkout()
  checkout.write('src/cli/main.ts', LISTENING)
  const spawns = "spawn(process.execPath, ['scripts/start.mjs'], { stdio: 'inherit' })"
  checkout.write('fake-npm.cjs', `require('node:child_process').${spawns}`)
  const { child, ended, output } = checkout.start('fake-npm.cjs', [], { npm_lifecycle_event: 'start' })
  await vi.waitUntil(() => output.stdout.includes('ready'), { timeout: 60_000 })
  child.kill('SIGKILL')
  expect((await ended).stdout).toBe('ready\nSIGTERM\n')
})

const MAKER = `export async function generatedFiles() { return { 'docs/made.md': 'made\\n' } }`

test('npm run generate writes what is stale, and --check names it with the remedy', async () => {
  const checkout = new Checkout()
  checkout.write('scripts/generated-files.mjs', MAKER)
  const stale = await checkout.run('scripts/generate.mjs', ['--check'])
  expect(stale.code).toBe(1)
  expect(stale.stderr).toContain('stale: docs/made.md')
  expect(stale.stderr).toContain('npm run generate')
  expect(checkout.has('docs/made.md')).toBe(false)

  expect((await checkout.run('scripts/generate.mjs')).stderr).toContain('written: docs/made.md')
  expect(checkout.read('docs/made.md')).toBe('made\n')
  expect(await checkout.run('scripts/generate.mjs', ['--check'])).toMatchObject({ code: 0 })
})

test('a generated file cannot be written outside the checkout', async () => {
  const checkout = new Checkout()
  checkout.write('scripts/generated-files.mjs', MAKER.replace('docs/', '../'))
  const { code, stderr } = await checkout.run('scripts/generate.mjs')
  expect(code).toBe(1)
  expect(stderr).toContain('must lie in this folder: ../made.md')
})

test('npm run check runs the chosen steps to the end and says which failed', async () => {
  const checkout = new Checkout()
  const biome = (code: number) =>
    checkout.write('node_modules/@biomejs/biome/bin/biome', `process.exit(${code})`)
  checkout.write('node_modules/typescript/bin/tsc', '')
  checkout.write('scripts/build.mjs', '')
  biome(1)
  const failed = await checkout.run('scripts/check.mjs', ['lint', 'types'])
  expect(failed.code).toBe(1)
  expect(failed.stderr).toMatch(/lint +FAILED +\d+\.\d s\ntypes +ok +\d+\.\d s\n$/)
  biome(0)
  expect((await checkout.run('scripts/check.mjs', ['lint'])).code).toBe(0)
})

test('npm run check refuses an unknown step and names the steps', async () => {
  const { code, stderr } = await new Checkout().run('scripts/check.mjs', ['typo'])
  expect(code).toBe(2)
  expect(stderr).toContain('lint, types, generated, package, tests')
})
