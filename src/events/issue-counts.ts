import type { Queryable } from '../db/connection.ts'

/** How many issues nobody has resolved. */
export async function openIssueCounts(db: Queryable): Promise<{ severity: string; open: number }[]> {
  const { rows } = await db.query<{ severity: string; open: number }>(
    `select severity, count(*)::int as open from iu_core.system_issue
      where resolved_at is null group by severity order by severity`,
  )
  return rows
}
