/**
 * Calls of handlers that run in another process, as the process sees them that holds the lease in the database. What carries them (NATS)
 * is not its concern.
 */
import type { JsonObject } from '../../kernel/json.ts'

/** One call of a handler: a job (or a batch of jobs) or a step or item of a playbook. */
export interface RemoteCall {
  /** The same for the same attempt under the same lease epoch. */
  readonly call: string
  readonly what: 'job' | 'item'
  /** The kind of the job, or the name of the handler. */
  readonly name: string
  /** What the handler gets. At most `MAX_CALL_BYTES` as JSON. */
  readonly body: JsonObject
  readonly timeoutMs?: number
  /** The registration in the database under whose lease it runs, and what it runs: by these another gateway adopts it. Absent: none can. */
  readonly lease?: string
  readonly refs?: readonly CallRef[]
  /** It, or what ran beside it, has killed workers before: it gets one that runs nothing else. */
  readonly alone?: boolean
}

/** A job or a command under its epoch. */
export interface CallRef {
  readonly id: string
  readonly epoch: number
}

/** The id of a call that another gateway can adopt: it says what the call runs, so a worker cannot give it another name. */
export function adoptableCall(what: RemoteCall['what'], { id, epoch }: CallRef): string {
  return what === 'job' ? `job:${id}:${epoch}` : `${id}@${epoch}`
}

export const MAX_CALL_BYTES = 256 * 1024

/** How a call ended. For a job the result has an entry for each job of the call; for an item it is what the handler returned. */
export type RemoteOutcome = (
  | { readonly status: 'completed'; readonly result?: unknown }
  | { readonly status: 'failed'; readonly error: string; readonly retryable: boolean }
  /** The worker stops and did not finish it: it is free for others, and no attempt is used. */
  | { readonly status: 'released' }
) & {
  /** The name of the worker where it ran, for people. */
  readonly worker?: string
}

/** The workers of one pool: they offer the same handlers. */
export interface RemoteCalls {
  /** How many calls they take at once, all together. */
  readonly slots: number
  /** How many workers there are, so how many calls may run `alone`; absent: one. */
  readonly workers?: number
  /** `slots` changed. */
  onSlots(listener: () => void): () => void
  /**
   * Hands the call to a worker with a free slot and resolves when its handler has ended. Throws WorkerGone when the worker is silent for
   * longer than its session lasts, and CallMoved when another gateway has adopted it. When the signal is aborted the worker is told: what
   * its handler then returns within some seconds counts, else it throws the reason of the signal.
   */
  run(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome>
  /** The outcome is committed (`counted`), or does not count: the worker may forget it, and repeats it until then. */
  settle(call: string, counted: boolean): void
}

/** The call runs already, in the worker that another gateway had given it to: resolves when it has ended, as `run` does, and does not send it again. */
export type ResumeCall = (call: RemoteCall, signal: AbortSignal) => Promise<RemoteOutcome>

/** Its worker is gone. `began`: the handler may have begun, so the crash is charged to what it ran. */
export class WorkerGone extends Error {
  override readonly name = 'WorkerGone'
  readonly began: boolean

  constructor(reason: string, began: boolean) {
    super(reason)
    this.began = began
  }
}

/** Another gateway has adopted it, with its lease: nothing is to be written about it here. */
export class CallMoved extends Error {
  override readonly name = 'CallMoved'
}
