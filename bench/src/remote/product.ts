/** Gateways and remote workers of the built product. A build without them says so. */
import { BenchError, EXIT_ENVIRONMENT } from '../errors.ts'
import type { silentLog } from '../nats.ts'
import type { createPool, Nats, startWorker } from '../product.ts'

type Log = typeof silentLog

export interface Gateway {
  readonly id: string
  stop(): Promise<void>
}

export interface RemoteWorker {
  readonly gateway: string | undefined
  readonly running: number
  stop(): Promise<void>
}

interface GatewayModule {
  startGateway(options: {
    readonly nats: Nats
    readonly pool: ReturnType<typeof createPool>
    readonly listenUrl: string
    readonly log: Log
    readonly process: string
  }): Promise<Gateway>
}

interface RemoteWorkerModule {
  startRemoteWorkerProcess(options: {
    readonly nats: Nats
    readonly log: Log
    readonly handlers: Parameters<typeof startWorker>[0]['handlers']
    readonly concurrency: number
    readonly name?: string
  }): RemoteWorker
}

export async function loadRemote(): Promise<GatewayModule & RemoteWorkerModule> {
  try {
    return {
      ...((await import(builtModule('app/gateway.js'))) as GatewayModule),
      ...((await import(builtModule('app/remote-worker.js'))) as RemoteWorkerModule),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new BenchError('This build has no gateways and no remote workers.', {
      remedy: 'Build a version that has them.',
      exitCode: EXIT_ENVIRONMENT,
      cause,
    })
  }
}

function builtModule(path: string): string {
  return new URL(`../../../dist/${path}`, import.meta.url).href
}
