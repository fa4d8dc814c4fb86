import { expect, test } from 'vitest'
import { Checkout } from './checkout.ts'

const INSTALL = `import { command } from './scripts/notice.mjs'
import { ensureInstalled } from './scripts/setup.mjs'
await command(() => ensureInstalled({ nodeVersion: process.argv[2] ?? process.versions.node }))
`

function checkoutToInstall(): Checkout {
  const checkout = new Checkout({ installed: false })
  checkout.write('install.mjs', INSTALL)
  return checkout
}

test.each(['18.20.8', '20.18.3'])('Node %s is refused in plain words', async (version) => {
  const { code, stderr } = await checkoutToInstall().run('install.mjs', [version])
  expect(code).toBe(9)
  expect(stderr).toContain(`Stagedoor needs Node 20.19 or newer; this is Node ${version}.`)
  expect(stderr).toContain('nvm install 20')
})

test.each(['20.19.0', '22.1.0', '26.0.0'])('Node %s is taken', async (version) => {
  expect((await checkoutToInstall().run('install.mjs', [version])).code).toBe(0)
})

test('the first time installs with the npm that runs us, the second time does nothing', async () => {
  const checkout = checkoutToInstall()
  const first = await checkout.run('install.mjs')
  expect(first).toMatchObject({ code: 0, stdout: '' })
  expect(first.stderr).toMatch(/Installing dependencies \(first time only\)…\n {2}done in/)
  expect(checkout.journal()).toEqual([expect.stringMatching(/^npm install --no-save/)])

  expect(await checkout.run('install.mjs')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(checkout.journal()).toHaveLength(1)
})

test.each([
  ['the lockfile', 'package-lock.json', { note: 1, packages: { '': {}, console: {}, bench: {} } }],
  ['nothing but node_modules', 'node_modules/.stagedoor-install.json', {}],
])('a change of %s installs again', async (_what, path, content) => {
  const checkout = checkoutToInstall()
  await checkout.run('install.mjs')
  checkout.write(path, JSON.stringify(content))
  const { stderr } = await checkout.run('install.mjs')
  expect(stderr).toContain('Installing dependencies (they changed)…')
  expect(checkout.journal()).toHaveLength(2)
})

test('another major version of Node installs again', async () => {
  const checkout = checkoutToInstall()
  await checkout.run('install.mjs', ['20.19.0'])
  await checkout.run('install.mjs', ['20.20.0'])
  expect(checkout.journal()).toHaveLength(1)
  await checkout.run('install.mjs', ['22.20.0'])
  expect(checkout.journal()).toHaveLength(2)
})

test('a package.json that the lockfile does not know is refused before anything is installed', async () => {
  const checkout = checkoutToInstall()
  checkout.write('console/package.json', JSON.stringify({ dependencies: { left: '^1.0.0' } }))
  const { code, stderr } = await checkout.run('install.mjs')
  expect(code).toBe(9)
  expect(stderr).toContain('console/package.json asks for other packages than package-lock.json holds.')
  expect(stderr).toContain('Run npm install once')
  expect(checkout.journal()).toEqual([])
})

test('a failed install shows what npm said and is tried again by the next command', async () => {
  const checkout = checkoutToInstall()
  checkout.write('npm-broken', '')
  const failed = await checkout.run('install.mjs')
  expect(failed.code).toBe(9)
  expect(failed.stderr).toContain('npm error network unreachable')
  expect(failed.stderr).toContain('The dependencies could not be installed')

  checkout.remove('npm-broken')
  expect((await checkout.run('install.mjs')).code).toBe(0)
  expect(checkout.journal()).toHaveLength(2)
})
