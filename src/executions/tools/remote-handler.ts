/**
 * The tool `handler` of a gateway: the handlers run in remote workers, and everything else of a step runs here. A gateway holds the lease
 * of a command; `CommandCalls` are the calls that it makes for it.
 */
import type { Json, JsonObject } from '../../kernel/json.ts'
import {
  adoptableCall,
  CallMoved,
  MAX_CALL_BYTES,
  type RemoteCall,
  type RemoteCalls,
  type RemoteOutcome,
  type ResumeCall,
  WorkerGone,
} from '../../runtime/remote/calls.ts'
import { type HandlerTool, type Tool, type ToolContext, ToolError, unknownHandler } from './tool.ts'

/** What the handler of a step or an item gets with its call, beside the arguments that the gateway has rendered. */
export type RemoteItemContext = Pick<
  ToolContext,
  | 'execution_id'
  | 'command_id'
  | 'playbook'
  | 'step'
  | 'attempt'
  | 'index'
  | 'workspace_id'
  | 'started_by'
  | 'cause'
>

/** The command of which a gateway holds the lease. */
interface LeasedCommand {
  /** The engine that holds it. */
  readonly engine: string
  readonly command_id: string
  readonly lease_epoch: number
  /** It ended its workers several times: its worker runs nothing beside it. */
  readonly isSuspect: boolean
}

/** The command goes back: nobody knows how it would have ended. */
interface Unfinished {
  /** The crash is charged to it. */
  readonly crashed: boolean
  readonly reason: string
}

export class CommandCalls {
  readonly tool: HandlerTool
  /** Where the last call ran. */
  worker: string | undefined
  /** No worker has finished its call. */
  unfinished: Unfinished | undefined
  /** False: the command is more than one call, so another gateway cannot go on with it. */
  isAdoptable = false
  private readonly calls: RemoteCalls
  private readonly command: LeasedCommand
  /** The call that runs already, begun under another gateway. */
  private adopted: AdoptedOutcome | undefined
  private made = 0
  private isOver = false
  /** Calls that have ended, and whose worker has not been told whether that counts. */
  private unsettled: string[] = []

  constructor(calls: RemoteCalls, names: readonly string[], command: LeasedCommand) {
    this.calls = calls
    this.command = command
    const tool: Tool = (name, args, context) => {
      if (name === undefined || !names.includes(name)) throw unknownHandler(name, names)
      return this.call(name, args, context)
    }
    this.tool = Object.assign(tool, { names })
  }

  /** Its call runs already, in a worker that lost the gateway which held the lease before. `signal`: of the command. */
  adopt(name: string, resume: ResumeCall, signal: AbortSignal): void {
    this.isAdoptable = true
    const call: RemoteCall = {
      ...{ call: itemCall(this.command), what: 'item', name, body: {}, ...this.lease, ...this.alone },
    }
    this.adopted = new AdoptedOutcome((stopped) => resume(call, stopped), signal)
  }

  /** The command has ended: its workers may forget their ends. `counted`: the end is committed. */
  settle(counted: boolean): void {
    this.isOver = true
    this.adopted?.stop(new Error('its command has ended'))
    this.settleEnded(counted)
  }

  private settleEnded(counted: boolean): void {
    for (const call of this.unsettled) this.calls.settle(call, counted)
    this.unsettled = []
  }

  private async call(name: string, args: JsonObject, context: ToolContext): Promise<Json | undefined> {
    const { adopted } = this
    this.adopted = undefined
    // The result of an earlier tool of the step is in use: its worker need not keep it.
    this.settleEnded(true)
    this.made++
    const call = itemCall(this.command, this.isAdoptable ? undefined : this.made)
    try {
      const outcome = await (adopted === undefined
        ? this.calls.run(this.remoteCall(call, name, args, context), context.signal)
        : adopted.wait(context.signal))
      this.unsettled.push(call)
      // The time of the command was up, or nobody wants it any more.
      if (this.isOver) this.settleEnded(false)
      return this.resultOf(outcome)
    } catch (error) {
      if (error instanceof WorkerGone) this.unfinished = { crashed: error.began, reason: error.message }
      // Its lease is elsewhere, so giving it back changes nothing; else it is free.
      if (error instanceof CallMoved) this.unfinished = { crashed: false, reason: error.message }
      throw error
    }
  }

  private get alone(): Pick<RemoteCall, 'alone'> {
    return this.command.isSuspect ? { alone: true } : {}
  }

  private get lease(): Pick<RemoteCall, 'lease' | 'refs'> {
    const { engine, command_id, lease_epoch } = this.command
    return this.isAdoptable ? { lease: engine, refs: [{ id: command_id, epoch: lease_epoch }] } : {}
  }

  private remoteCall(call: string, name: string, args: JsonObject, context: ToolContext): RemoteCall {
    const { execution_id, command_id, playbook, step, attempt, index, workspace_id, started_by, cause } =
      context
    const seen: RemoteItemContext = {
      ...{ execution_id, command_id, playbook, step, attempt, workspace_id, started_by, cause },
      ...(index !== undefined && { index }),
    }
    const body = { args, context: { ...seen } }
    const bytes = Buffer.byteLength(JSON.stringify(body))
    if (bytes > MAX_CALL_BYTES) throw tooLarge('arguments', name, bytes)
    const timeoutMs = context.deadline && Math.max(1, context.deadline.getTime() - Date.now())
    return {
      ...{ call, what: 'item', name, body, ...this.lease, ...this.alone },
      ...(timeoutMs !== undefined && { timeoutMs }),
    }
  }

  private resultOf(outcome: RemoteOutcome): Json | undefined {
    this.worker = outcome.worker
    switch (outcome.status) {
      case 'completed':
        // Whatever it is: runCommand refuses what is not JSON.
        return outcome.result as Json | undefined
      case 'failed':
        throw new ToolError(outcome.error, { retryable: outcome.retryable })
      case 'released':
        this.unfinished = { crashed: false, reason: `the remote worker ${outcome.worker ?? ''} stops` }
        throw new ToolError(this.unfinished.reason, { retryable: true })
    }
  }
}

/** The end of a call that began under another gateway: awaited from the moment of the adoption, and used when the command gets there. */
class AdoptedOutcome {
  private readonly controller = new AbortController()
  private readonly outcome: Promise<RemoteOutcome>

  constructor(begin: (signal: AbortSignal) => Promise<RemoteOutcome>, command: AbortSignal) {
    this.stopWith(command)
    this.outcome = begin(this.controller.signal)
    // The command may never get there.
    this.outcome.catch(() => {})
  }

  async wait(attempt: AbortSignal): Promise<RemoteOutcome> {
    this.stopWith(attempt)
    return this.outcome
  }

  stop(reason: unknown): void {
    this.controller.abort(reason)
  }

  private stopWith(signal: AbortSignal): void {
    if (signal.aborted) this.stop(signal.reason)
    else signal.addEventListener('abort', () => this.stop(signal.reason), { once: true })
  }
}

/** The id of the only call of a command, or of the n-th of several. */
export function itemCall(
  { command_id, lease_epoch }: Pick<LeasedCommand, 'command_id' | 'lease_epoch'>,
  n?: number,
): string {
  const call = adoptableCall('item', { id: command_id, epoch: lease_epoch })
  return n === undefined ? call : `${call}.${n}`
}

/** What a call carries, and what comes back, is in one message. */
export function tooLarge(what: 'arguments' | 'result', handler: string, bytes: number): ToolError {
  return new ToolError(
    `${bytes} bytes are too many for the ${what} of the handler ${handler}: a call of a remote worker carries at most ${MAX_CALL_BYTES} ` +
      '(256 KiB). Pass a reference to the data, or run the handler in a process that has DATABASE_URL',
  )
}
