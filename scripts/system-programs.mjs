/**
 * Programs that some suites need and npm cannot bring. They are found, or installed where this user may do that,
 * or their suites are named as not run.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './child.mjs'
import { notice, SetupError, step } from './notice.mjs'

/**
 * One entry for each program. `env` is how the suites learn its path; set by a person, it is taken as it is. With `length` only
 * that run has its suites.
 */
export const PROGRAMS = [
  {
    program: 'chromium',
    env: 'CHROMIUM_PATH',
    debianPackage: 'chromium',
    suites: ['test/console'],
    find: () =>
      onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) ??
      executable('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'),
  },
  {
    program: 'pgbouncer',
    env: 'PGBOUNCER_PATH',
    debianPackage: 'pgbouncer',
    suites: ['test/kernel/postgres/doctor/pooler'],
    // Debian puts it where only root looks.
    find: () => onPath(['pgbouncer']) ?? executable('/usr/sbin/pgbouncer'),
  },
  {
    program: 'haproxy',
    env: 'HAPROXY_PATH',
    debianPackage: 'haproxy',
    suites: ['test/http/haproxy'],
    find: () => onPath(['haproxy']) ?? executable('/usr/sbin/haproxy'),
  },
  {
    program: 'nats-server',
    env: 'NATS_SERVER_PATH',
    debianPackage: 'nats-server',
    suites: ['test/runtime/nats', 'test/app/gateway', 'test/chaos/hosts', 'test/deploy/nats'],
    find: () => onPath(['nats-server']) ?? executable('/usr/sbin/nats-server'),
  },
  {
    program: 'ip, as root, to make network namespaces',
    env: 'IP_PATH',
    debianPackage: 'iproute2',
    suites: ['test/chaos/hosts'],
    find: () => (mayMakeNamespaces() ? (onPath(['ip']) ?? executable('/usr/sbin/ip')) : undefined),
  },
  {
    program: 'faketime',
    env: 'FAKETIME_PATH',
    debianPackage: 'faketime',
    suites: ['test/chaos/hosts'],
    find: () => onPath(['faketime']),
  },
  {
    program: 'python3',
    env: 'PYTHON_PATH',
    debianPackage: 'python3',
    suites: ['test/clients'],
    find: () => onPath(['python3']),
  },
  {
    program: 'systemd-analyze',
    env: 'SYSTEMD_ANALYZE_PATH',
    debianPackage: 'systemd',
    suites: ['test/deploy/systemd'],
    find: () => onPath(['systemd-analyze']),
  },
  {
    program: 'buildah',
    env: 'BUILDAH_PATH',
    debianPackage: 'buildah',
    suites: ['test/deploy/image'],
    length: 'long',
    find: () => onPath(['buildah']),
  },
  {
    program: 'swift-proxy-server',
    env: 'SWIFT_PROXY_PATH',
    debianPackage: 'swift-proxy swift-account swift-container swift-object memcached',
    suites: ['test/runtime/stores/swift'],
    length: 'long',
    find: () =>
      ['swift-account-server', 'swift-container-server', 'swift-object-server', 'memcached'].every((name) =>
        onPath([name]),
      )
        ? onPath(['swift-proxy-server'])
        : undefined,
  },
]

/**
 * Makes ready the programs that `testFiles` need. Gives the variables that name them, and for each suite that
 * cannot run `{ suite, reason }`.
 */
export async function preparePrograms({
  programs = PROGRAMS,
  testFiles,
  length,
  env = process.env,
  install = aptInstall,
}) {
  const found = {}
  const notRun = []
  for (const { program, env: variable, debianPackage, suites, length: only, find } of programs) {
    if (only !== undefined && only !== length) continue
    const needed = suites.filter((suite) => testFiles.some((file) => file.startsWith(`${suite}/`)))
    if (needed.length === 0) continue
    const given = env[variable]
    let path = given ? executable(given) : find()
    if (path === undefined && !given) {
      await install({ program, debianPackage, env })
      path = find()
    }
    if (path !== undefined) {
      found[variable] = path
      continue
    }
    const reason = given
      ? `needs ${program}: ${variable} is ${given}, which cannot be run`
      : `needs ${program}: apt-get install ${debianPackage}`
    notRun.push(...needed.map((suite) => ({ suite, reason })))
  }
  return { found, notRun }
}

/** Only as root on Debian or Ubuntu, and never silently: it says so, and a variable turns it off. */
export async function aptInstall({ program, debianPackage, env }) {
  const allowed = env.STAGEDOOR_NO_SYSTEM_INSTALL !== '1' && process.getuid?.() === 0
  const apt = existsSync('/etc/debian_version') ? onPath(['apt-get']) : undefined
  if (!allowed || apt === undefined) return
  const title = `Installing ${program} with apt-get (STAGEDOOR_NO_SYSTEM_INSTALL=1 turns this off)…`
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } }
  const steps = [['update'], ['install', '-y', '--no-install-recommends', ...debianPackage.split(' ')]]
  const work = async () => {
    for (const args of steps) {
      const { code, output } = await run(apt, args, quiet)
      if (code !== 0)
        throw new SetupError(`apt-get ${args.join(' ')} ended with ${code}:\n${lastLines(output)}`)
    }
  }
  // Not fatal here: the caller looks for the program again and names the suites that cannot run.
  await step(title, work).catch((error) => notice(error.message))
}

/** A container may be root and still be refused. */
function mayMakeNamespaces() {
  const ip = onPath(['ip']) ?? executable('/usr/sbin/ip')
  if (ip === undefined || process.getuid?.() !== 0) return false
  const name = `sd-try-${process.pid}`
  const made = spawnSync(ip, ['netns', 'add', name]).status === 0
  spawnSync(ip, ['netns', 'delete', name])
  return made
}

function onPath(names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  for (const name of names) {
    for (const folder of folders) {
      const path = executable(join(folder, name))
      if (path !== undefined) return path
    }
  }
  return undefined
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? path : undefined
  } catch {
    return undefined
  }
}

const lastLines = (text) => text.trimEnd().split('\n').slice(-10).join('\n')
