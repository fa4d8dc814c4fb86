/** What people call the things that events are about. */
import { UUID } from '../kernel/ids.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'

/** Id → title of a change, or name of an uploaded file, of those that the caller may see. */
export async function subjectNames(
  db: Queryable,
  subjects: readonly (string | null)[],
): Promise<Record<string, string>> {
  const ids = [...new Set(subjects.filter((subject) => subject !== null && UUID.test(subject)))]
  if (ids.length === 0) return {}
  const { rows: tables } = await db.query<{ readable: boolean }>(
    `select has_table_privilege('iu_core.change', 'select') and has_table_privilege('iu_core.ingest_upload', 'select') as readable`,
  )
  if (!tables[0]!.readable) return {}
  const { rows } = await db.query<{ id: string; name: string }>(
    `select change_id as id, title as name from iu_core.change where change_id = any ($1::uuid[])
     union all
     select upload_id, file_name from iu_core.ingest_upload where upload_id = any ($1::uuid[])`,
    [ids],
  )
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}
