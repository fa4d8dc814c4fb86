/** A worker without a database: handlers of the user's file, of jobs and of playbooks, run for gateways. */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { runRemoteItem } from '../executions/engine/remote-item.ts'
import type { PlaybookHandlers } from '../executions/tools/tool.ts'
import { batchOf, type JobHandlers, needsDatabase } from '../jobs/handlers.ts'
import { jobOutcomesOf, runJobCall } from '../jobs/remote.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { VERSION } from '../kernel/version.ts'
import type { Nats } from '../runtime/nats.ts'
import type { RemoteCall } from '../runtime/remote/calls.ts'
import type { OfferedHandler } from '../runtime/remote/protocol.ts'
import { type RemoteWorker, startRemoteWorker } from '../runtime/remote/worker.ts'

export interface RemoteWorkerProcess extends RemoteWorker {
  /** Kinds of jobs that it runs. */
  readonly kinds: readonly string[]
  /** Names of the handlers of playbooks that it runs. */
  readonly playbookHandlers: readonly string[]
  /** Kinds whose handlers need a database. */
  readonly leftOut: readonly string[]
}

/** For metrics. */
export interface RemoteWorkerHooks {
  /** `outcomes`: of each job of the call, or of its step. */
  onCallEnd?(call: Pick<RemoteCall, 'what' | 'name'>, outcomes: readonly string[], ms: number): void
}

interface RemoteWorkerProcessOptions {
  readonly nats: Nats
  readonly log: Logger
  readonly handlers: JobHandlers
  readonly playbookHandlers?: PlaybookHandlers
  readonly concurrency: number
  readonly executor?: string
  readonly name?: string
  readonly shutdownMs?: number
  readonly onGateway?: (gateway: string | undefined) => void
  readonly hooks?: RemoteWorkerHooks
}

export function startRemoteWorkerProcess(options: RemoteWorkerProcessOptions): RemoteWorkerProcess {
  const { nats, log, handlers, concurrency, executor = 'PG_worker', shutdownMs, onGateway, hooks } = options
  const { playbookHandlers = {} } = options
  const steps = Object.keys(playbookHandlers)
  const kinds = Object.keys(handlers).filter((kind) => !needsDatabase(handlers[kind]!))
  const leftOut = Object.keys(handlers).filter((kind) => !kinds.includes(kind))
  if (kinds.length === 0 && steps.length === 0)
    throw new StagedoorError('argument_invalid', {
      reason:
        leftOut.length === 0
          ? 'A remote worker needs --handlers: it runs only your own'
          : `All handlers need a database (${leftOut.join(', ')}): set DATABASE_URL`,
    })
  const offered: OfferedHandler[] = [
    ...kinds.map((name) => ({ what: 'job' as const, name, batch: batchOf(handlers[name]!) ?? 1 })),
    ...steps.map((name) => ({ what: 'item' as const, name, batch: 1 })),
  ]
  const host = hostname() || 'unknown'
  const worker = startRemoteWorker({
    nats,
    log,
    version: VERSION,
    name: options.name ?? `${host} ${process.pid}`,
    host,
    executor,
    concurrency,
    handlers: offered,
    ...(shutdownMs !== undefined && { shutdownMs }),
    ...(onGateway && { onGateway }),
    async run(call, context) {
      const began = performance.now()
      const outcome =
        call.what === 'job'
          ? await runJobCall(handlers, call, context, log)
          : await runRemoteItem(playbookHandlers, call, { signal: context.signal, log })
      const outcomes = call.what === 'job' ? jobOutcomesOf(outcome) : [outcome.status]
      hooks?.onCallEnd?.(call, outcomes, performance.now() - began)
      return outcome
    },
  })
  return {
    kinds,
    playbookHandlers: steps,
    leftOut,
    get gateway() {
      return worker.gateway
    },
    get running() {
      return worker.running
    },
    health: () => worker.health(),
    stop: () => worker.stop(),
  }
}
