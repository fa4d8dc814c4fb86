import type { Queryable } from '../db/connection.ts'

/** Whether some worker with a live lease takes jobs of this kind. For the back end, which may see the workers. */
export async function isSomebodyWorking(db: Queryable, kind: string, executor: string): Promise<boolean> {
  const { rows } = await db.query<{ working: boolean }>(
    `select exists (select from iu_core.job_worker
                     where executor = $2 and $1 = any (kinds) and leased_until > clock_timestamp()) as working`,
    [kind, executor],
  )
  return rows[0]!.working
}
