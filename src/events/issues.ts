/** Issues: what went wrong inside and waits for a person. One open issue for each code and subject, occurrences counted. */

import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { Issue } from './shapes.ts'

export type { Issue } from './shapes.ts'

export type IssueSeverity = Issue['severity']

export interface NewIssue {
  readonly code: string
  readonly severity: IssueSeverity
  readonly subject?: string
  readonly title: string
  readonly detail?: Readonly<Record<string, unknown>>
  readonly workspace?: string
}

const COLUMNS = columnsOf(Issue)

/** Opens an issue or counts the open one of this code and subject once more. Returns its id. */
export async function openIssue(db: Queryable, issue: NewIssue): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select iu_core.fn_system_issue_open($1, $2, $3, $4, $5, $6) as id',
    [
      issue.code,
      issue.severity,
      issue.subject ?? null,
      issue.title,
      JSON.stringify(issue.detail ?? {}),
      issue.workspace ?? null,
    ],
  )
  return rows[0]!.id
}

/** Newest first, as far as the caller may see. `after` is the id of the last issue of the page before. */
export async function listIssues(
  db: Queryable,
  { resolved = false, limit = 100, after }: { resolved?: boolean; limit?: number; after?: string } = {},
): Promise<Issue[]> {
  const { rows } = await db.query<Issue>(
    `select ${COLUMNS} from iu_core.system_issue
      where ($1 or resolved_at is null) and ($3::uuid is null or issue_id < $3)
      order by issue_id desc limit $2`,
    [resolved, limit, after ?? null],
  )
  return rows
}

export type IssueSummary = Pick<
  Issue,
  'issue_id' | 'code' | 'severity' | 'workspace_id' | 'occurrences' | 'opened_at' | 'last_seen_at'
>

/** The open issues as an agent may know of them: without titles, details and subjects. `after` as above. */
export async function listIssueSummaries(
  db: Queryable,
  { limit = 100, after }: { limit?: number; after?: string } = {},
): Promise<IssueSummary[]> {
  const { rows } = await db.query<IssueSummary>(
    `select issue_id, code, severity, workspace_id, occurrences, opened_at, last_seen_at
       from iu_core.fn_system_issue_summaries($1, $2)`,
    [limit, after ?? null],
  )
  return rows
}

/** How many issues nobody has resolved. */
export async function openIssueCounts(db: Queryable): Promise<{ severity: string; open: number }[]> {
  const { rows } = await db.query<{ severity: string; open: number }>(
    `select severity, count(*)::int as open from iu_core.system_issue
      where resolved_at is null group by severity order by severity`,
  )
  return rows
}

/** Resolves an issue, once, and emits an event. */
export async function resolveIssue(
  db: Queryable,
  issue: string,
  { resolution, actor }: { resolution?: string; actor?: string } = {},
): Promise<Issue> {
  const { rows } = await db.query<Issue>(
    `select ${COLUMNS} from iu_core.fn_system_issue_resolve($1, $2, $3)`,
    [issue, resolution ?? null, actor ?? null],
  )
  return rows[0]!
}
