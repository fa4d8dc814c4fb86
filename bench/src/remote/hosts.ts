/** Hosts of a benchmark on one machine: NATS, a gateway, and workers in a few processes. */

import { type BenchNats, startNats } from '../nats.ts'
import { type BenchProcess, startProcess, startProcesses, stopAll } from '../processes.ts'
import { type createPool, enqueueMany } from '../product.ts'
import type { BenchDatabase } from '../server.ts'
import type { HostInput } from './process.ts'

export interface Hosts {
  readonly nats: BenchNats | undefined
  readonly gateways: readonly BenchProcess[]
  readonly workers: readonly BenchProcess[]
  stop(): Promise<void>
}

export interface HostsWanted {
  readonly way: 'direct' | 'remote'
  readonly gateways?: number
  /** Workers, spread over processes of at most `perProcess`. */
  readonly workers: number
  readonly perProcess?: number
  readonly concurrency?: number
  readonly batch?: number
  readonly handlerMs: number
}

const SCRIPT = new URL('process.js', import.meta.url)

export const startHost = (input: HostInput): Promise<BenchProcess> => startProcess(SCRIPT, input)

export async function startHosts(
  { workerUrl }: Pick<BenchDatabase, 'workerUrl'>,
  wanted: HostsWanted,
): Promise<Hosts> {
  const { way, gateways = 1, workers, perProcess = 8, concurrency = 1, batch, handlerMs } = wanted
  const nats = way === 'remote' ? await startNats() : undefined
  const started: { gateways: BenchProcess[]; workers: BenchProcess[] } = { gateways: [], workers: [] }
  const stop = async (): Promise<void> => {
    await stopAll(started.workers)
    await stopAll(started.gateways)
    await nats?.stop()
  }
  try {
    if (nats)
      started.gateways = await startProcesses(gateways, () =>
        startHost({ role: 'gateway', workerUrl, natsUrl: nats.url }),
      )
    started.workers = await startProcesses(Math.ceil(workers / perProcess), (n) =>
      startHost({
        role: way,
        ...(nats ? { natsUrl: nats.url } : { workerUrl }),
        workers: Math.min(perProcess, workers - n * perProcess),
        concurrency,
        ...(batch !== undefined && { batch }),
        handlerMs,
      }),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { nats, ...started, stop }
}

const ENQUEUED_AT_ONCE = 5000

/** Jobs whose payloads are numbered from 0. */
export async function enqueueNoops(pool: ReturnType<typeof createPool>, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += ENQUEUED_AT_ONCE)
    await enqueueMany(
      pool,
      Array.from({ length: Math.min(ENQUEUED_AT_ONCE, jobs - from) }, (_, n) => ({
        job_kind: 'noop',
        payload: { n: from + n },
      })),
    )
}
