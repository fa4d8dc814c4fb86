/** A function that runs only after a person has approved its arguments, once. */
import { createHash } from 'node:crypto'
import { StagedoorError, textOfThrown } from '../kernel/errors.ts'
import type { Approval } from './approval-shapes.ts'
import { jsonOf, type NewApproval } from './approvals.ts'

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
  get(id: string): Promise<Approval>
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
    // What is shown is what runs: the function gets the copy that is shown, whatever becomes of the caller's objects meanwhile.
    const fixed = show && key ? args : (copyOf(args) as Args)
    const describe = () => {
      const title = typeof given === 'function' ? given(...fixed) : (given ?? fn.name)
      const shown = jsonOf(show ? show(...fixed) : { arguments: fixed })
      return { title, key: key ? key(...fixed) : keyOf(title, fixed), shown }
    }
    const asked = describe()
    const { title } = asked
    if (!title) {
      const reason = 'A function without a name needs a title: requireApproval(fn, { title })'
      throw new StagedoorError('argument_invalid', { reason })
    }
    // Arguments that cannot be copied may have changed while somebody looked at them.
    const requireSame = () => {
      const now = describe()
      if (now.shown === asked.shown && now.key === asked.key && now.title === title) return
      const reason = `What ${title} shows has changed since it was asked for: ask again under another key`
      throw new StagedoorError('argument_invalid', { reason })
    }
    const approval = await deps.request({
      ...rest,
      title,
      key: asked.key,
      show: JSON.parse(asked.shown),
      workspace,
      by,
      signal,
    })
    requireConsent(approval)
    requireSame()
    try {
      await deps.use(approval.approval_id, { digest: approval.digest, by })
    } catch (error) {
      // Between the decision and now another process used it, or it expired or was taken back: which of them, the request says.
      if (error instanceof StagedoorError && ENDED.includes(error.code))
        requireConsent(await deps.get(approval.approval_id))
      throw error
    }
    let result: Result
    try {
      requireSame()
      result = await fn(...fixed)
    } catch (error) {
      // The function's own error matters more than a failure to write it down.
      await deps.finish(approval.approval_id, { error: textOfThrown(error), by }).catch(() => {})
      throw error
    }
    await deps.finish(approval.approval_id, { by })
    return result
  }
}

const ENDED: readonly string[] = ['staging_decided', 'staging_expired']

/** Throws unless the request was approved and is not used yet. */
export function requireConsent(approval: Approval): void {
  const { status, title, decisions, run } = approval
  if (status !== 'approved') {
    const why = decisions.flatMap(({ comment }) => comment ?? []).at(-1)
    const details = {
      approval: approval.approval_id,
      title,
      status: status.replace('_', ' '),
      reason: why === undefined ? '' : ` (“${why.slice(0, 500)}”)`,
    }
    const unused = wasNotUsed(approval) && { message: `${title} was ${unusedText(approval)}` }
    throw new StagedoorError('approval_not_given', details, unused || {})
  }
  if (run !== null)
    throw new StagedoorError('approval_used', {
      approval: approval.approval_id,
      title,
      by: run.by,
      at: run.started_at,
      state: run.status,
    })
}

/** It was approved as the policy asks, and expired before anybody used it. */
export function wasNotUsed({ status, approved_at }: Pick<Approval, 'status' | 'approved_at'>): boolean {
  return status === 'expired' && approved_at !== null
}

/** `names` of actors; by default their ids. */
export function unusedText(
  { decisions, expires_at }: Pick<Approval, 'decisions' | 'expires_at'>,
  names: (actor: string) => string = String,
): string {
  const approvers = decisions.flatMap(({ verdict, by }) => (verdict === 'approve' ? [names(by)] : []))
  return `approved by ${approvers.join(', ')} and not used in time: it expired at ${expires_at}`
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

/** A copy of arguments that JSON shows as they are; others are refused. Arguments that are left out at the end stay left out. */
function copyOf(args: readonly unknown[]): unknown[] {
  const given = args.findLastIndex((value) => value !== undefined) + 1
  const within = new Set<object>()
  const copy = (value: unknown, place: string): unknown => {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    // Whether JSON carries it exactly is asked where it is written; -0 would be shown as 0.
    if (typeof value === 'number' && !Object.is(value, -0)) return value
    const prototype = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined
    const isList = Array.isArray(value) && prototype === Array.prototype
    const isPlain = prototype === Object.prototype || prototype === null
    if ((!isList && !isPlain) || Object.getOwnPropertySymbols(value as object).length > 0)
      throw refused(place, nameOf(value))
    if (within.has(value as object)) throw refused(place, 'a part of itself')
    within.add(value as object)
    const copied = isList
      ? Array.from(value as unknown[], (one, at) => copy(one, `${place}[${at}]`))
      : Object.fromEntries(
          Object.entries(value as object).flatMap(([name, one]) => {
            // Called by JSON.stringify, or lost by it.
            if (name === 'toJSON' || name === '__proto__')
              throw refused(`${place}.${name}`, 'a name with a meaning')
            return one === undefined ? [] : [[name, copy(one, `${place}.${name}`)]]
          }),
        )
    within.delete(value as object)
    return copied
  }
  return args.slice(0, given).map((value, at) => copy(value, `argument ${at + 1}`))
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : typeof value
  return (Object.getPrototypeOf(value)?.constructor?.name as string | undefined) ?? 'object'
}

function refused(place: string, what: string): StagedoorError {
  const reason = `${place} is ${what}, which a reviewer would not see as it is: pass text or plain JSON, or give both show and key`
  return new StagedoorError('argument_invalid', { reason })
}
