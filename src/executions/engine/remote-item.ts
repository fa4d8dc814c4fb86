/** The other end of remote-handler.ts: a remote worker runs a step or an item of a playbook that a gateway sent. */
import type { Logger } from 'pino'
import type { JsonObject } from '../../kernel/json.ts'
import { abortSourceOf } from '../../runtime/lazy-abort.ts'
import { MAX_CALL_BYTES, type RemoteCall, type RemoteOutcome } from '../../runtime/remote/calls.ts'
import { requireJson } from '../results.ts'
import { type RemoteItemContext, tooLarge } from '../tools/remote-handler.ts'
import { handlerTool, type PlaybookHandlers, ToolError } from '../tools/tool.ts'
import { CommandAttempt, failureOf } from './commands.ts'

interface RunRemoteItemOptions {
  /** Aborted when nobody wants the outcome any more, or the worker stops. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Runs one call of what `item`. Never rejects. */
export async function runRemoteItem(
  handlers: PlaybookHandlers,
  { name, body, timeoutMs }: RemoteCall,
  { signal, log }: RunRemoteItemOptions,
): Promise<RemoteOutcome> {
  let attempt: CommandAttempt | undefined
  try {
    const { args, context } = requireItemBody(body)
    // Its time counts from here by the clock of this process: the clocks of two hosts differ.
    attempt = new CommandAttempt(timeoutMs, { ...context, log }, abortSourceOf(signal))
    const work = handlerTool(handlers)(name, args, attempt.context)
    const result = requireJson(await attempt.within(work))
    const bytes = Buffer.byteLength(JSON.stringify(result))
    if (bytes > MAX_CALL_BYTES) throw tooLarge('result', name, bytes)
    return { status: 'completed', result }
  } catch (error) {
    return failureOf(error)
  } finally {
    attempt?.end()
  }
}

function requireItemBody(body: JsonObject): { args: JsonObject; context: RemoteItemContext } {
  const { args, context } = body
  if (isObject(args) && isObject(context) && typeof context.command_id === 'string')
    return { args, context: context as unknown as RemoteItemContext }
  throw new ToolError('The call has no arguments and no context: its gateway has another version')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
