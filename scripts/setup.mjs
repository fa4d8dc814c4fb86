/**
 * The set-up that every command does for itself: the right Node, the dependencies, the builds.
 * Each part knows by a digest of its inputs whether it is up to date, and then costs only the digest.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, runNode } from './child.mjs'
import { fingerprint } from './fingerprint.mjs'
import { withLock } from './lock.mjs'
import { EXIT_ENVIRONMENT, SetupError, step } from './notice.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const INSTALL_STAMP = 'node_modules/.stagedoor-install.json'
const TSC = 'node_modules/typescript/bin/tsc'
const LOCKFILE = 'package-lock.json'

/** Every build goes into a folder next to its output (source maps are relative) that then takes its place. */
export const BUILDS = {
  dist: {
    title: 'Building the product…',
    output: 'dist',
    entry: 'cli/main.js',
    executable: true,
    inputs: ['src', 'tsconfig.json', 'tsconfig.build.json', LOCKFILE],
    args: (folder) => [TSC, '-p', 'tsconfig.build.json', '--outDir', folder],
  },
  console: {
    title: 'Building the console…',
    output: 'console/dist',
    entry: 'index.html',
    inputs: ['console', LOCKFILE],
    args: (folder) => ['../node_modules/vite/bin/vite.js', 'build', '--outDir', folder, '--emptyOutDir'],
    cwd: 'console',
  },
  bench: {
    title: 'Building the benchmarks…',
    output: 'bench/dist',
    entry: 'main.js',
    // They are checked against the product's types, so a change there builds them again.
    inputs: ['bench/src', 'bench/package.json', 'bench/tsconfig.json', 'tsconfig.json', 'src', LOCKFILE],
    args: (folder) => [TSC, '-p', 'bench/tsconfig.json', '--outDir', folder],
  },
}

/** Refuses a Node that is too old, then installs what the lockfile says unless exactly that is there. */
export async function ensureInstalled({ root = ROOT, nodeVersion = process.versions.node } = {}) {
  checkNode(readJson(join(root, 'package.json')).engines.node, nodeVersion)
  const wanted = () => installFingerprint(root, nodeVersion)
  const installed = () => stampIs(join(root, INSTALL_STAMP), wanted())
  if (installed()) return
  await withLock(lockFile(root), async () => {
    if (installed()) return
    const fresh = !existsSync(join(root, 'node_modules'))
    const title = fresh
      ? 'Installing dependencies (first time only)…'
      : 'Installing dependencies (they changed)…'
    const before = wanted()
    await step(title, () => install(root))
    writeStamp(join(root, INSTALL_STAMP), before)
  })
}

/** Builds what is not up to date. `force` builds anyway. */
export async function ensureBuilt({ root = ROOT, names = ['dist', 'console'], force = false } = {}) {
  for (const name of names) {
    const build = BUILDS[name]
    const current = () => buildFingerprint(root, build)
    const built = () =>
      existsSync(join(root, build.output, build.entry)) && stampIs(buildStamp(root, name), current())
    if (!force && built()) continue
    await withLock(lockFile(root), async () => {
      if (!force && built()) return
      // Taken before the build: a file that changes meanwhile makes the next check build again.
      const before = current()
      await step(build.title, () => makeBuild(root, name, build, before))
    })
  }
}

export function checkNode(range, version) {
  const [major, minor] = range.replace('>=', '').split('.').map(Number)
  const [haveMajor, haveMinor] = version.split('.').map(Number)
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return
  throw new SetupError(`Stagedoor needs Node ${major}.${minor} or newer; this is Node ${version}.`, {
    remedy: `Install a newer Node (nodejs.org, or with nvm: nvm install ${major}) and try again.`,
    exitCode: EXIT_ENVIRONMENT,
  })
}

/** What an install depends on: the lockfile, what each package asks for, and the machine it is for. */
export function installFingerprint(root, nodeVersion = process.versions.node) {
  const machine = { node: nodeVersion.split('.')[0], platform: process.platform, arch: process.arch }
  return fingerprint(root, [LOCKFILE], { asked: askedFor(root), machine })
}

/** What the root package and each workspace ask for, by folder ('' is the root, as in the lockfile). */
function askedFor(root) {
  const { workspaces = [] } = readJson(join(root, 'package.json'))
  const folders = ['', ...workspaces]
  return Object.fromEntries(
    folders.map((folder) => [folder, requests(readJson(join(root, folder, 'package.json')))]),
  )
}

function requests({ dependencies = {}, devDependencies = {}, optionalDependencies = {} }) {
  const sorted = (wishes) => Object.fromEntries(Object.entries(wishes).sort())
  return [dependencies, devDependencies, optionalDependencies].map(sorted)
}

/**
 * Not `npm ci`: that deletes node_modules first, which cannot be restored without a network. `install --no-save`
 * takes the locked versions and never writes the lockfile; what it would let pass, a request that the lockfile
 * does not know, is refused here.
 */
async function install(root) {
  checkLockfile(root)
  // Under `npm run -s` or `npm pack --dry-run` npm's own settings arrive through the environment.
  const args = ['install', '--no-save', '--include=dev', '--dry-run=false', '--loglevel=warn']
  const npm = process.env.npm_execpath ?? ''
  // Another package manager sets the same variable, but cannot read our lockfile.
  const ours = /npm-cli\.c?js$/.test(npm)
  const installing = ours ? runNode([npm, ...args], { cwd: root }) : run('npm', args, { cwd: root })
  const { code, output } = await installing.catch((error) => ({
    code: 'an error',
    output: `npm could not be started: ${error.message}`,
  }))
  if (code === 0) return
  throw new SetupError(`The dependencies could not be installed (npm install ended with ${code}).`, {
    output,
    remedy: 'Above is what npm said. Check the network, then run the same command again.',
    exitCode: EXIT_ENVIRONMENT,
  })
}

function checkLockfile(root) {
  const { packages } = readJson(join(root, LOCKFILE))
  for (const [folder, asked] of Object.entries(askedFor(root))) {
    if (JSON.stringify(requests(packages[folder] ?? {})) === JSON.stringify(asked)) continue
    throw new SetupError(`${join(folder, 'package.json')} asks for other packages than ${LOCKFILE} holds.`, {
      remedy: 'Run npm install once, and commit the lockfile together with the change.',
      exitCode: EXIT_ENVIRONMENT,
    })
  }
}

function buildFingerprint(root, build) {
  return fingerprint(root, build.inputs, { version: readJson(join(root, 'package.json')).version })
}

async function makeBuild(root, name, build, before) {
  const output = join(root, build.output)
  const building = join(dirname(output), '.stagedoor-building')
  const previous = join(dirname(output), '.stagedoor-previous')
  for (const folder of [building, previous]) rmSync(folder, { recursive: true, force: true })

  const { code, output: said } = await runNode(build.args(building), { cwd: join(root, build.cwd ?? '.') })
  const entry = join(building, build.entry)
  if (code !== 0 || !existsSync(entry)) {
    rmSync(building, { recursive: true, force: true })
    throw new SetupError(`${build.output} could not be built.`, {
      output: said,
      remedy:
        code === 0
          ? `The build made no ${build.entry}.`
          : 'Above is what the compiler said. Correct it and try again.',
    })
  }
  if (build.executable) chmodSync(entry, 0o755)

  // No stamp while the folders change places: whoever is interrupted here builds again.
  rmSync(buildStamp(root, name), { force: true })
  if (existsSync(output)) renameSync(output, previous)
  renameSync(building, output)
  writeStamp(buildStamp(root, name), before)
  rmSync(previous, { recursive: true, force: true })
}

const lockFile = (root) => join(root, '.stagedoor-setup', 'lock')
const buildStamp = (root, name) => join(root, '.stagedoor-setup', `${name}.json`)

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))

function stampIs(file, digest) {
  try {
    return readJson(file).inputs === digest
  } catch {
    return false
  }
}

/** Whole or not at all: a stamp cut short by a full disk would still be a file. */
function writeStamp(file, digest) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, `${JSON.stringify({ inputs: digest, at: new Date().toISOString() })}\n`)
  renameSync(`${file}.new`, file)
}
