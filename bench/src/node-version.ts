/** Peers in their newest version may need a newer Node than this one; then they, and ours to compare, run there. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Figures } from './benchmark.ts'
import { BenchError, EXIT_ENVIRONMENT } from './errors.ts'

export interface NodeChoices {
  readonly running?: { readonly version: string; readonly path: string }
  /** The newer Node from npm, if it is installed. */
  readonly installed?: { readonly version: string; readonly path: string } | undefined
}

const PACKAGE = `node-${process.platform}-${process.arch}`
/**
 * A folder of its own, not a dependency: as one its `node` would come first on the PATH of every npm script, and the
 * product would be started and tested under it.
 */
const FOLDER = fileURLToPath(new URL('../.node/', import.meta.url))
const INSTALLED_MAJOR = 24
const MAX_RUN_MS = 30 * 60_000
const INSTALL_MS = 5 * 60_000

/** The path of a Node of at least this major version: the running one, or the one that npm installed. */
export function nodeFor(minimumMajor: number, choices: NodeChoices = {}): string {
  const running = choices.running ?? { version: process.versions.node, path: process.execPath }
  if (majorOf(running.version) >= minimumMajor) return running.path
  const installed = 'installed' in choices ? choices.installed : installedNode()
  if (installed && majorOf(installed.version) >= minimumMajor) return installed.path
  const found = installed ? `${PACKAGE} is ${installed.version}` : `${PACKAGE} is not installed`
  throw new BenchError(
    `A peer needs Node ${minimumMajor} or newer; this is ${running.version} and ${found}.`,
    {
      remedy: `Run ${installCommand().join(' ')}, or start the benchmark with a newer Node.`,
      exitCode: EXIT_ENVIRONMENT,
    },
  )
}

/** The same; what is missing is installed first, and said. */
export async function provideNode(minimumMajor: number): Promise<string> {
  try {
    return nodeFor(minimumMajor)
  } catch (missing) {
    const [command, ...args] = installCommand()
    console.error(
      `A peer needs Node ${minimumMajor}; this is ${process.versions.node}. Installing ${PACKAGE}…`,
    )
    await promisify(execFile)(command!, args, { timeout: INSTALL_MS }).catch((cause) => {
      throw Object.assign(missing as Error, { cause })
    })
    return nodeFor(minimumMajor)
  }
}

function installCommand(): string[] {
  return [
    'npm',
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    FOLDER,
    `${PACKAGE}@${INSTALLED_MAJOR}`,
  ]
}

/** Runs a script of ours under such a Node. It gets `input` as JSON and prints its figures as its last line. */
export async function runUnderNode(minimumMajor: number, script: string, input: unknown): Promise<Figures> {
  const args = [script, JSON.stringify(input)]
  const { stdout } = await promisify(execFile)(await provideNode(minimumMajor), args, {
    timeout: MAX_RUN_MS,
    maxBuffer: 16 * 2 ** 20,
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Figures
}

/** For the report: what the peers are, and the Node that all of them ran under. */
export async function peerVersions(
  minimumMajor: number,
  names: readonly string[],
): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)(await provideNode(minimumMajor), [
    '-p',
    'process.versions.node',
  ])
  const root = new URL('../../node_modules/', import.meta.url)
  const versions = names.map((name) => {
    const manifest = new URL(`${name}/package.json`, root)
    return [name, JSON.parse(readFileSync(manifest, 'utf8')).version as string]
  })
  return { ...Object.fromEntries(versions), 'node of all': stdout.trim() }
}

function installedNode(): NodeChoices['installed'] {
  const folder = `${FOLDER}node_modules/${PACKAGE}/`
  const path = `${folder}bin/node`
  if (!existsSync(path)) return undefined
  return { version: JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).version, path }
}

const majorOf = (version: string): number => Number.parseInt(version.replace(/^v/, ''), 10)
