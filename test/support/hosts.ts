/**
 * Hosts of a test: network namespaces on a bridge of their own, so that one can be cut off as by a pulled cable: nothing arrives, and no
 * connection is closed. The bridge is in a namespace, too: a change of this machine's own network would disturb every browser that runs
 * beside. What the hosts reach of this machine are the ports that `forward` opens for them.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { type RunningCli, startCli } from './cli.ts'
import { temporaryHome } from './temporary-home.ts'

export interface TestHosts {
  /** Where the hosts find what is forwarded. */
  readonly address: string
  add(name: string): TestHost
  /** Opens a port at `address` that leads to one of this machine's loopback. */
  forward(port: number): Promise<number>
}

export interface TestHost {
  readonly name: string
  /** A command of the product on this host, with the host's name as its own. `clock`: how far its clock is off, as `+60s`. */
  start(args: readonly string[], env: Record<string, string>, options?: StartOptions): RunningCli
  cut(): void
  heal(): void
}

interface StartOptions {
  readonly clock?: string
  /** Another build of the command line than this one's. */
  readonly program?: string
}

/** Everything is removed at the end of the file. */
export function useHosts(): TestHosts {
  const id = randomInt(1, 0xffff).toString(36)
  const subnet = `10.77.${randomInt(1, 255)}`
  const hub = `sd-${id}-hub`
  const folder = temporaryHome('hosts')
  const namespaces = [hub]
  const servers: { server: Server; sockets: Set<Socket>; relay: ChildProcess }[] = []
  ip('netns', 'add', hub)
  ip('-n', hub, 'link', 'set', 'lo', 'up')
  ip('-n', hub, 'link', 'add', 'bridge0', 'type', 'bridge')
  ip('-n', hub, 'address', 'add', `${subnet}.1/24`, 'dev', 'bridge0')
  ip('-n', hub, 'link', 'set', 'bridge0', 'up')
  afterAll(() => {
    for (const { server, sockets, relay } of servers) {
      relay.kill('SIGKILL')
      server.close()
      for (const socket of sockets) socket.destroy()
    }
    for (const namespace of namespaces) ip('netns', 'delete', namespace)
  })
  return {
    address: `${subnet}.1`,

    add(name) {
      const namespace = `sd-${id}-${name}`
      const outside = `host${namespaces.length}`
      namespaces.push(namespace)
      ip('netns', 'add', namespace)
      ip('-n', hub, 'link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
      ip('-n', hub, 'link', 'set', outside, 'master', 'bridge0', 'up')
      ip('-n', namespace, 'link', 'set', 'lo', 'up')
      ip('-n', namespace, 'address', 'add', `${subnet}.${10 + namespaces.length}/24`, 'dev', 'eth0')
      ip('-n', namespace, 'link', 'set', 'eth0', 'up')
      return {
        name,
        start(args, env, { clock, program } = {}) {
          // A host name of its own, in a namespace for that; unshare becomes the shell, and that the program.
          const named = ['unshare', '--uts', 'sh', '-c', `hostname ${name} && exec "$@"`, 'sh']
          return startCli(
            args,
            { ...(clock !== undefined && clockOff(clock)), ...env },
            { under: [IP, 'netns', 'exec', namespace, ...named], ...(program !== undefined && { program }) },
          )
        },
        cut: () => ip('-n', hub, 'link', 'set', outside, 'down'),
        heal: () => ip('-n', hub, 'link', 'set', outside, 'up'),
      }
    },

    async forward(port) {
      const path = join(folder, `${servers.length}.sock`)
      const sockets = new Set<Socket>()
      const server = createServer((inner) => {
        const outer = connect(port, '127.0.0.1')
        for (const [from, to] of [
          [inner, outer],
          [outer, inner],
        ] as const) {
          sockets.add(from)
          from.on('error', () => to.destroy())
          from.on('close', () => {
            sockets.delete(from)
            to.destroy()
          })
          from.pipe(to)
        }
      }).listen(path)
      await once(server, 'listening')
      const under = ['netns', 'exec', hub, process.execPath, RELAY, `${subnet}.1`, path]
      const relay = spawn(IP, under, { stdio: ['ignore', 'pipe', 'inherit'] })
      servers.push({ server, sockets, relay })
      const [line] = (await once(relay.stdout!, 'data')) as [Buffer]
      return Number(line)
    },
  }
}

/** Not by the program faketime itself: it would stay between us and the process, and a signal would end it alone. */
function clockOff(clock: string): Record<string, string> {
  const asked = ['-f', clock, 'printenv', 'LD_PRELOAD']
  const library = execFileSync(process.env.FAKETIME_PATH ?? 'faketime', asked, { encoding: 'utf8' }).trim()
  // What measures how long something took is not off: only what time it is.
  return { LD_PRELOAD: library, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

const IP = process.env.IP_PATH ?? 'ip'
const RELAY = fileURLToPath(new URL('hosts-relay.mjs', import.meta.url))

function ip(...args: readonly string[]): void {
  execFileSync(IP, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
