/** Approvals for programs: ask in one awaited line, or wrap a function that may run only after one. */
import type { Logger } from 'pino'
import { resolveWorkspace } from '../access/members.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { openWakeups, type Wakeups } from '../runtime/wakeups.ts'
import {
  deleteApprovalKind,
  listApprovalKinds,
  type NewApprovalKind,
  requireApprovalKind,
  setApprovalKind,
} from '../staging/approval-kinds.ts'
import type { Approval, ApprovalKind } from '../staging/approval-shapes.ts'
import {
  type ApprovalFilter,
  type ApprovalReview,
  approveApproval,
  finishApproval,
  followApprovals,
  getApproval,
  listApprovals,
  type NewApproval,
  requestApproval,
  useApproval,
  waitForApproval,
} from '../staging/approvals.ts'
import { type RequireApprovalOptions, requireApproval } from '../staging/require-approval.ts'

interface Asking {
  /** Id or name; may be left out where there is one. */
  readonly workspace?: string | undefined
  /** In whose name; default: the login of the program. This person cannot decide. */
  readonly by?: string | undefined
}

/**
 * Approvals that this program asks for. Acts as the back end (service_role), in the name of whom `by` names. People decide in the console,
 * on the command line or over the API, under their own role.
 */
export interface Approvals {
  /**
   * Asks, and waits for the decision: `approved`, `rejected`, `changes_requested`, `withdrawn` or `expired`. Asked again with the same key,
   * after a crash too, it waits on or returns what was decided. With `signal` aborted it returns the request as it is then (`waiting`).
   */
  request(request: NewApproval & Asking & { readonly signal?: AbortSignal | undefined }): Promise<Approval>
  /** Asks, and does not wait. */
  open(request: NewApproval & Asking): Promise<Approval>
  get(id: string): Promise<Approval>
  list(filter?: Partial<ApprovalFilter>): Promise<Approval[]>
  wait(id: string, options?: { signal?: AbortSignal }): Promise<Approval>
  /** For whom `by` names, who must be a reviewer and somebody else than who asked. */
  approve(id: string, review: ApprovalReview & { readonly by: string }): Promise<Approval>
  /** Uses an approval, once: of two who try one gets the run. What was approved is done after that; then `finish`. */
  use(id: string, options?: { digest?: string | undefined; by?: string | undefined }): Promise<string>
  finish(id: string, options?: { error?: string | undefined; by?: string | undefined }): Promise<void>
  /** What may be shown: a JSON Schema and a template, for each workspace. */
  readonly kinds: {
    set(kind: NewApprovalKind & { readonly workspace?: string | undefined }): Promise<ApprovalKind>
    get(kind: string, workspace?: string): Promise<ApprovalKind>
    list(workspace?: string): Promise<ApprovalKind[]>
    delete(kind: string, options?: { workspace?: string; by?: string }): Promise<void>
  }
}

/**
 * The function, to be called as before: it shows its arguments, waits, and runs once after they were approved. Throws approval_not_given
 * and approval_used.
 */
export type RequireApproval = <Args extends unknown[], Result>(
  fn: (...args: Args) => Result | Promise<Result>,
  options?: RequireApprovalOptions<Args>,
) => (...args: Args) => Promise<Result>

interface ApprovalsDeps {
  /** One transaction as service_role. */
  service<T>(work: (client: Client) => Promise<T>): Promise<T>
  /** Of the login of the workers, for wake-ups. */
  readonly listenUrl: string
}

export function approvalsLibrary({ service, listenUrl }: ApprovalsDeps): {
  readonly approvals: Approvals
  readonly requireApproval: RequireApproval
  close(): Promise<void>
} {
  const closing = new AbortController()
  const waiting = new Set<Promise<unknown>>()

  const open = ({ workspace, by, ...request }: NewApproval & Asking): Promise<Approval> =>
    service(async (client) =>
      requestApproval(client, withoutSignal(request), {
        workspace: await resolveWorkspace(client, workspace),
        by,
      }),
    )
  const get = (id: string): Promise<Approval> => service((client) => getApproval(client, id))
  /** The session that listens is open only while something waits. */
  const wait = (id: string, signal?: AbortSignal): Promise<Approval> => {
    const work = (async () => {
      let wakeups: Wakeups | undefined
      try {
        wakeups = openWakeups(listenUrl, SILENT)
        const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
        return await waitForApproval(id, { read: () => get(id), signals: followApprovals(wakeups) }, until)
      } finally {
        await wakeups?.close()
      }
    })()
    waiting.add(work)
    work.catch(() => {}).finally(() => waiting.delete(work))
    return work
  }
  const request: Approvals['request'] = async ({ signal, ...asked }) => {
    const approval = await open(asked)
    return approval.decided ? approval : wait(approval.approval_id, signal)
  }
  const use: Approvals['use'] = (id, options) => service((client) => useApproval(client, id, options))
  const finish: Approvals['finish'] = (id, options) =>
    service((client) => finishApproval(client, id, options))
  const inWorkspace = <T>(
    workspace: string | undefined,
    work: (client: Client, id: string) => Promise<T>,
  ): Promise<T> => service(async (client) => work(client, await resolveWorkspace(client, workspace)))

  const approvals: Approvals = {
    request,
    open,
    get,
    list: (filter = {}) => service((client) => listApprovals(client, { limit: 50, ...filter })),
    wait: (id, { signal } = {}) => wait(id, signal),
    approve: (id, review) => service((client) => approveApproval(client, id, review)),
    use,
    finish,
    kinds: {
      set: ({ workspace, ...kind }) =>
        inWorkspace(workspace, (client, id) => setApprovalKind(client, id, kind)),
      get: (kind, workspace) => inWorkspace(workspace, (client, id) => requireApprovalKind(client, id, kind)),
      list: (workspace) => inWorkspace(workspace, listApprovalKinds),
      delete: (kind, { workspace, by } = {}) =>
        inWorkspace(workspace, (client, id) => deleteApprovalKind(client, id, kind, by)),
    },
  }
  return {
    approvals,
    requireApproval: (fn, options = {}) => requireApproval({ request, use, finish, get }, fn, options),
    async close() {
      closing.abort()
      await Promise.allSettled([...waiting])
    },
  }
}

/** What JSON cannot carry is no part of a request. */
function withoutSignal({ signal: _signal, ...request }: NewApproval & { signal?: unknown }): NewApproval {
  return request
}

/** The bus logs what it cannot reach; the poll goes on either way, and its errors reach the caller. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {} } as unknown as Logger
