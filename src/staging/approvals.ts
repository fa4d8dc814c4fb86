/** Approvals that programs ask for: request, look, wait, decide with a form, and use once. Every rule is the database's. */
import { MAX_DURATION_MS, parseDuration } from '../kernel/duration.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { Wake } from '../runtime/wake.ts'
import type { Wakeups } from '../runtime/wakeups.ts'
import type { Approval, ApprovalStatus, FormField, RequestPolicy } from './approval-shapes.ts'

export interface NewApproval {
  /** By it whoever asked finds the request again, also after a crash. The same key with other content is an error. */
  readonly key: string
  /** One line. */
  readonly title: string
  /** What the reviewer looks at: Markdown, or JSON. Large numbers (beyond 2^53) are written as text. */
  readonly show: unknown
  /** A kind of the workspace: its schema checks `show`, its template shows it. */
  readonly kind?: string | undefined
  /** Who is asked, by user ids; and groups. */
  readonly reviewers?: readonly string[] | undefined
  readonly groups?: readonly string[] | undefined
  /** Asks for more than the review policy of the workspace. */
  readonly policy?: RequestPolicy | undefined
  /** What the reviewer fills in. */
  readonly form?: readonly FormField[] | undefined
  /** `30m`, `2d`: then the request expires. Default: 14 days. */
  readonly timeout?: string | undefined
}

export interface RequestOptions {
  readonly workspace: string | null
  /** For the back end, which asks for somebody. */
  readonly by?: string | undefined
  readonly sourceKind?: 'agent' | 'user' | 'system' | 'import' | undefined
}

export type RequestedApproval = Approval & {
  /** False: the key found this request. */
  readonly created: boolean
}

export async function requestApproval(
  db: Queryable,
  { timeout, ...request }: NewApproval,
  { workspace, by, sourceKind }: RequestOptions,
): Promise<RequestedApproval> {
  const { rows } = await db.query<{ approval: RequestedApproval }>(
    'select iu_core.fn_approval_request($1, $2, $3, $4) as approval',
    [
      jsonOf({ ...request, ...(timeout !== undefined && { timeout_seconds: secondsOf(timeout) }) }),
      workspace,
      by ?? null,
      sourceKind ?? null,
    ],
  )
  return rows[0]!.approval
}

function secondsOf(timeout: string): number {
  const ms = parseDuration(timeout.trim())
  if (ms !== undefined && ms >= 1000 && ms <= MAX_DURATION_MS) return ms / 1000
  throw invalid('timeout is a duration such as 30m, 2h or 2d: at least a second, at most 366 days')
}

/** What JSON cannot carry exactly is refused: a reviewer must see what is used. */
export function jsonOf(request: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(request, (name, value: unknown) => {
      if (typeof value === 'number' && !(Number.isFinite(value) && isExact(value)))
        throw invalid(`${name || 'show'} is ${value}, which JSON does not carry exactly: write it as a text`)
      return value
    })
  } catch (error) {
    if (error instanceof StagedoorError) throw error
    throw invalid(`The request cannot be written as JSON: ${(error as Error).message}`)
  }
  if (text === undefined) throw invalid('There is nothing to show')
  return text
}

const isExact = (value: number) => !Number.isInteger(value) || Number.isSafeInteger(value)

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

/** Throws approval_not_found, also for one that the caller may not see. */
export async function getApproval(db: Queryable, id: string): Promise<Approval> {
  const { rows } = await db.query<{ approval: Approval }>('select iu_core.fn_approval_get($1) as approval', [
    id,
  ])
  return rows[0]!.approval
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined
  readonly kind?: string | undefined
  readonly workspace?: string | undefined
  readonly key?: string | undefined
  readonly limit: number
  /** The id of the last one of the page before. */
  readonly after?: string | undefined
}

/** Newest first, as far as the caller may see. */
export async function listApprovals(db: Queryable, filter: ApprovalFilter): Promise<Approval[]> {
  const { rows } = await db.query<{ approval: Approval }>(
    `select o.approval || jsonb_build_object('summary', null) as approval
       from iu_core.approval a
      cross join lateral (select iu_core.fn_approval_outcome(a.staging_record_id) as approval offset 0) o
      where ($2::uuid is null or a.staging_record_id < $2)
        and ($3::text is null or o.approval ->> 'status' = $3)
        and ($4::text is null or a.kind = $4)
        and ($5::uuid is null or a.workspace_id = $5)
        and ($6::text is null or a.approval_key = $6)
      order by a.staging_record_id desc limit $1`,
    [
      filter.limit,
      filter.after ?? null,
      filter.status ?? null,
      filter.kind ?? null,
      filter.workspace ?? null,
      filter.key ?? null,
    ],
  )
  return rows.map(({ approval }) => approval)
}

export interface ApprovalReview {
  /** Of what the reviewer saw. */
  readonly digest: string
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  readonly comment?: string | undefined
  /** For the back end, which approves for somebody. */
  readonly by?: string | undefined
}

/** Approves with what was filled in. The answer may still wait: for another approval that the policy asks for. */
export async function approveApproval(
  db: Queryable,
  id: string,
  { digest, answers = {}, comment, by }: ApprovalReview,
): Promise<Approval> {
  const { rows } = await db.query<{ approval: Approval }>(
    'select iu_core.fn_approval_approve($1, $2, $3, $4, $5) as approval',
    [id, digest, jsonOf(answers), comment ?? null, by ?? null],
  )
  return rows[0]!.approval
}

/**
 * Uses an approval, once, for a run that begins after the commit of this transaction. Returns the run. Throws what staging throws for a
 * record that cannot be consumed: not approved, used before, expired, or no longer approved as the policy asks.
 */
export async function useApproval(
  db: Queryable,
  id: string,
  { digest, by }: { readonly digest?: string | undefined; readonly by?: string | undefined } = {},
): Promise<string> {
  const { rows } = await db.query<{ run: string }>('select iu_core.fn_approval_use($1, $2, $3) as run', [
    id,
    digest ?? null,
    by ?? null,
  ])
  return rows[0]!.run
}

/** Says how what was approved ended: with `error`, it failed. */
export async function finishApproval(
  db: Queryable,
  id: string,
  { error, by }: { readonly error?: string | undefined; readonly by?: string | undefined } = {},
): Promise<void> {
  await db.query('select iu_core.fn_approval_finish($1, $2, $3)', [id, error ?? null, by ?? null])
}

/** Notifications of decisions. One subscription of the bus serves all who wait. */
export interface ApprovalSignals {
  /** Decisions of other processes arrive. */
  readonly works: boolean
  /** `listener` gets the id of a request; empty: any. Returns the way to leave. */
  follow(listener: (id: string) => void): () => void
}

export function followApprovals(wakeups: Wakeups): ApprovalSignals {
  const listeners = new Set<(id: string) => void>()
  const notify = (id: string): void => {
    for (const listener of listeners) listener(id)
  }
  wakeups.on('approvals', notify)
  wakeups.onChange(() => notify(''))
  return {
    get works() {
      return wakeups.works
    },
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** While decisions of other processes arrive, the poll is only a net for one that was lost. */
const POLL_MS = { notified: 5_000, alone: 1_000 }

interface WaitDeps {
  /** Reads the request, in a transaction of its own: nothing is held while it waits. */
  read(): Promise<Approval>
  readonly signals?: ApprovalSignals | undefined
}

/** Waits until a request is decided or `until` aborts; returns it as it is then. */
export async function waitForApproval(
  id: string,
  { read, signals }: WaitDeps,
  until?: AbortSignal,
): Promise<Approval> {
  const wake = new Wake()
  const onAbort = (): void => wake.now()
  until?.addEventListener('abort', onAbort)
  // Before the first look, so that no decision falls between the look and the wait.
  const leave = signals?.follow((decided) => {
    if (decided === '' || decided === id) wake.now()
  })
  try {
    for (;;) {
      const approval = await read()
      if (approval.decided || until?.aborted) return approval
      const leftMs = Date.parse(approval.expires_at) - Date.now() + 50
      const pollMs = signals?.works ? POLL_MS.notified : POLL_MS.alone
      // It expires by the clock of the database: where that of this host is ahead, the poll finds it.
      await wake.wait(leftMs > 0 ? Math.max(50, Math.min(pollMs, leftMs)) : POLL_MS.alone)
    }
  } finally {
    until?.removeEventListener('abort', onAbort)
    leave?.()
  }
}
