/** A real OpenStack Swift with its S3 interface (s3api) and one replica, from Debian's packages, for the tests of one file. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { S3 } from '@aws-sdk/client-s3'
import { freePort } from '../../../support/cli.ts'
import { until } from '../../../support/until.ts'
import type { RunningS3 } from '../targets.ts'

const RINGS = ['account', 'container', 'object'] as const
const SECRET = 'testing-secret'

export async function startSwift(bucket = 'blobs'): Promise<RunningS3> {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-swift-'))
  chmodSync(folder, 0o755)
  const ports = {
    account: await freePort(),
    container: await freePort(),
    object: await freePort(),
    proxy: await freePort(),
    memcached: await freePort(),
  }
  configure(folder, ports)
  const children: ChildProcess[] = []
  const start = (name: string, program: string, args: readonly string[]): void => {
    const log = join(folder, `${name}.log`)
    const child = spawn('sh', ['-c', 'exec "$0" "$@" >"$LOG" 2>&1', program, ...args], {
      stdio: 'ignore',
      // A group of its own: each server has workers.
      detached: true,
      env: { ...process.env, LOG: log },
    })
    children.push(child)
  }
  const stop = async (): Promise<void> => {
    const ended = children.map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) resolve()
          else child.once('exit', () => resolve())
        }),
    )
    for (const { pid } of children)
      try {
        process.kill(-pid!, 'SIGKILL')
      } catch {
        // It has ended.
      }
    await Promise.all(ended)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const asRoot = process.getuid?.() === 0
  const memcached = ['-l', '127.0.0.1', '-p', String(ports.memcached), '-m', '32']
  start('memcached', 'memcached', [...(asRoot ? ['-u', 'nobody'] : []), ...memcached])
  const binaries = dirname(process.env.SWIFT_PROXY_PATH ?? '/usr/bin/swift-proxy-server')
  for (const name of [...RINGS, 'proxy'])
    start(name, join(binaries, `swift-${name}-server`), [join(folder, 'etc', `${name}-server.conf`)])
  const settings = {
    bucket,
    endpoint: `http://127.0.0.1:${ports.proxy}`,
    pathStyle: true,
    credentials: { accessKeyId: 'test:tester', secretAccessKey: SECRET },
    silenceMs: 20_000,
  }
  try {
    await until('Swift answers', async () => {
      const log = () => readFileSync(join(folder, 'proxy.log'), 'utf8')
      if (children.some(({ exitCode }) => exitCode !== null)) throw new Error(`Swift ended:\n${log()}`)
      return fetch(`${settings.endpoint}/healthcheck`)
        .then(({ ok }) => ok)
        .catch(() => false)
    })
    await until('Swift has a bucket', () => createBucket(settings))
  } catch (error) {
    await stop()
    throw error
  }
  return { settings, port: ports.proxy, stop }
}

/** False while the servers behind the proxy start. */
async function createBucket({ bucket, endpoint, credentials }: RunningS3['settings']): Promise<boolean> {
  const raw = new S3({
    endpoint: endpoint!,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: credentials!,
    maxAttempts: 1,
  })
  try {
    await raw.createBucket({ Bucket: bucket })
    return true
  } catch {
    return false
  } finally {
    raw.destroy()
  }
}

function configure(
  folder: string,
  ports: Record<(typeof RINGS)[number] | 'proxy' | 'memcached', number>,
): void {
  const etc = join(folder, 'etc')
  const devices = join(folder, 'dev')
  mkdirSync(etc)
  mkdirSync(join(devices, 'd1'), { recursive: true })
  const asRoot = process.getuid?.() === 0
  if (asRoot) execFileSync('chown', ['-R', 'swift:swift', devices])
  const head = (name: keyof typeof ports) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${ports[name]}
workers = 0
swift_dir = ${etc}
${asRoot ? 'user = swift' : ''}
log_level = WARNING
`
  writeFileSync(
    join(etc, 'swift.conf'),
    `[swift-hash]
swift_hash_path_prefix = sd
swift_hash_path_suffix = test
[storage-policy:0]
name = default
default = yes
`,
  )
  for (const name of RINGS) {
    writeFileSync(
      join(etc, `${name}-server.conf`),
      `${head(name)}devices = ${devices}
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = ${name}-server
[app:${name}-server]
use = egg:swift#${name}
`,
    )
    const builder = join(etc, `${name}.builder`)
    // It answers 1 for a warning: one device cannot be balanced.
    for (const args of [
      ['create', '4', '1', '1'],
      ['add', `r1z1-127.0.0.1:${ports[name]}/d1`, '1'],
      ['rebalance'],
    ])
      execFileSync('sh', [
        '-c',
        '"$0" "$@" >/dev/null 2>&1 || [ $? -eq 1 ]',
        'swift-ring-builder',
        builder,
        ...args,
      ])
  }
  const filters = [
    'catch_errors',
    'gatekeeper',
    'healthcheck',
    'listing_formats',
    'bulk',
    'slo',
    'copy',
    'symlink',
  ]
  writeFileSync(
    join(etc, 'proxy-server.conf'),
    `${head('proxy')}[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo symlink copy proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
# On a busy machine a server may take long to answer; the default gives up after half a second, and then on its only device for a minute.
conn_timeout = 30
node_timeout = 60
error_suppression_limit = 1000000
error_suppression_interval = 0
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${ports.memcached}
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
min_segment_size = 5242880
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${SECRET} .admin
${filters.map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`).join('')}`,
  )
}
