/** A function that runs only after a person has approved its arguments, once. */
import { createHash } from 'node:crypto'
import { StagedoorError, textOfThrown } from '../kernel/errors.ts'
import type { Approval } from './approval-shapes.ts'
import type { NewApproval } from './approvals.ts'

export interface RequireApprovalOptions<Args extends unknown[]>
  extends Omit<NewApproval, 'key' | 'title' | 'show'> {
  /** One line; default: the name of the function. */
  readonly title?: string | ((...args: Args) => string)
  /** What the reviewer sees; default: the arguments. */
  readonly show?: (...args: Args) => unknown
  /**
   * What one request is; default: the title and the arguments. A key is used once: to run with the same arguments again, the key must
   * say what is new about it (an order, a day).
   */
  readonly key?: (...args: Args) => string
  readonly workspace?: string | undefined
  /** In whose name it asks. */
  readonly by?: string | undefined
  /** Ends the waiting; the request stays, and the same key waits on. */
  readonly signal?: AbortSignal | undefined
}

export interface RequireApprovalDeps {
  request(
    request: NewApproval & {
      workspace?: string | undefined
      by?: string | undefined
      signal?: AbortSignal | undefined
    },
  ): Promise<Approval>
  use(id: string, options: { digest: string; by?: string | undefined }): Promise<string>
  finish(id: string, options: { error?: string | undefined; by?: string | undefined }): Promise<void>
}

/**
 * Asks, waits, uses the approval, and then runs the function: of several processes that ask with the same key one runs it, the others
 * throw approval_used. A process that dies after the use and before the end leaves a run that is running for ever: the function began at
 * most once, and is not begun again. Throws approval_not_given for every decision that is no approval.
 */
export function requireApproval<Args extends unknown[], Result>(
  deps: RequireApprovalDeps,
  fn: (...args: Args) => Result | Promise<Result>,
  options: RequireApprovalOptions<Args>,
): (...args: Args) => Promise<Result> {
  const { title: given, show, key, workspace, by, signal, ...rest } = options
  return async (...args) => {
    const title = typeof given === 'function' ? given(...args) : (given ?? fn.name)
    if (!title) {
      const reason = 'A function without a name needs a title: requireApproval(fn, { title })'
      throw new StagedoorError('argument_invalid', { reason })
    }
    const approval = await deps.request({
      ...rest,
      title,
      key: key ? key(...args) : keyOf(title, args),
      show: show ? show(...args) : { arguments: args },
      workspace,
      by,
      signal,
    })
    requireConsent(approval)
    try {
      await deps.use(approval.approval_id, { digest: approval.digest, by })
    } catch (error) {
      // Another process was faster: between the decision and now it has used it.
      if (error instanceof StagedoorError && error.code === 'staging_decided')
        throw usedError(approval, 'another process', 'this moment', 'it runs, or has run')
      throw error
    }
    let result: Result
    try {
      result = await fn(...args)
    } catch (error) {
      // The function's own error matters more than a failure to write it down.
      await deps.finish(approval.approval_id, { error: textOfThrown(error), by }).catch(() => {})
      throw error
    }
    await deps.finish(approval.approval_id, { by })
    return result
  }
}

/** Throws unless the request was approved and is not used yet. */
export function requireConsent(approval: Approval): void {
  const { status, title, decisions, run } = approval
  if (status !== 'approved') {
    const why = decisions.flatMap(({ comment }) => comment ?? []).at(-1)
    throw new StagedoorError('approval_not_given', {
      approval: approval.approval_id,
      title,
      status: status.replace('_', ' '),
      reason: why === undefined ? '' : ` (“${why.slice(0, 500)}”)`,
    })
  }
  if (run !== null) throw usedError(approval, run.by, run.started_at, run.status)
}

function usedError({ approval_id, title }: Approval, by: string, at: string, state: string): StagedoorError {
  return new StagedoorError('approval_used', { approval: approval_id, title, by, at, state })
}

/** The same title and the same arguments are the same request. */
function keyOf(title: string, args: readonly unknown[]): string {
  const text = JSON.stringify(args, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return `${title}:${createHash('sha256').update(text).digest('hex')}`
}
