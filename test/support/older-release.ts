/**
 * The command line of an older release, to run beside this one: the commit before the schema was changed for the last time. So its workers meet a
 * schema that they do not know. Where the history is not there (a shallow clone) it is this program with a lower version, which differs in
 * nothing but what it says of itself; `commit` is undefined then.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface OlderRelease {
  /** The commit that it was built from. */
  readonly commit: string | undefined
  readonly version: string
  /** Of the command line. */
  readonly program: string
}

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** What a build needs. */
const PARTS = ['src', 'sql', 'tsconfig.json', 'tsconfig.build.json', 'package.json']
const VERSION = '0.0.9'
/** A compiler on a busy machine. */
const BUILD_MS = 240_000

/** Built once for a commit, in test-results. STAGEDOOR_OLDER_RELEASE names another commit. */
export function buildOlderRelease(): OlderRelease {
  const commit = process.env.STAGEDOOR_OLDER_RELEASE ?? beforeTheLastMigration()
  const folder = join(ROOT, 'test-results', 'older-release', commit ?? 'same')
  const release = { commit, version: VERSION, program: join(folder, 'dist', 'cli', 'main.js') }
  if (commit !== undefined && existsSync(release.program)) return release
  const building = `${folder}.${process.pid}`
  mkdirSync(building, { recursive: true })
  try {
    if (commit === undefined) copyThisBuild(building)
    else build(commit, building)
    lowerVersion(building)
    rmSync(folder, { recursive: true, force: true })
    renameSync(building, folder)
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
  return release
}

/** A tree that could have been released: commits of one merge are not always whole, and then numbers of migrations are missing. */
function beforeTheLastMigration(): string | undefined {
  const changes = git('log', '-20', '--format=%H', '--', 'sql/migrations')?.split('\n') ?? []
  for (const change of changes) {
    const parent = git('rev-parse', '--verify', '--quiet', `${change}~1^{commit}`)
    const names = parent ? git('ls-tree', '--name-only', parent, 'sql/migrations/')?.split('\n') : undefined
    if (names?.every((name, n) => name.includes(`/${String(n + 1).padStart(4, '0')}_`))) return parent
  }
  return undefined
}

/** Undefined: no history, or not so much of it. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined
}

function build(commit: string, folder: string): void {
  const archive = execFileSync('git', ['archive', commit, ...PARTS], { cwd: ROOT, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  // It may not fit the types of newer libraries; what counts is that it runs.
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: BUILD_MS,
  })
  if (!existsSync(join(folder, 'dist', 'cli', 'main.js')))
    throw new Error(`${commit} could not be built:\n${stdout}`)
}

function copyThisBuild(folder: string): void {
  for (const part of ['dist', 'sql']) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

function lowerVersion(folder: string): void {
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...manifest, version: VERSION }))
}
