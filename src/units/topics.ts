/** The words that units may carry as topics. */
import type { Queryable } from '../db/connection.ts'

export interface Topic {
  readonly topic_id: string
  /** Null: of every workspace. */
  readonly workspace_id: string | null
  readonly topic_label: string
  readonly description: string | null
  /** Units that carry it keep it; no other gets it. */
  readonly retired_at: Date | null
  readonly registered_by: string
  readonly registered_at: Date
  /** How many units carry it, as far as the caller may see. */
  readonly units: number
}

export interface TopicPage {
  /** Default 200. */
  readonly limit?: number
  /** The id of the last of the page before. */
  readonly after?: string
}

/** Those of the workspace and those of all, by label; as far as the caller may see. */
export async function listTopics(
  db: Queryable,
  workspace?: string,
  { limit = 200, after }: TopicPage = {},
): Promise<Topic[]> {
  const { rows } = await db.query<Topic>(
    `with page as materialized (
       select * from iu_core.topic_vocabulary t
        where ($1::uuid is null or t.workspace_id is null or t.workspace_id = $1)
          and ($3::uuid is null or (t.topic_label, t.topic_id) >
               (select a.topic_label, a.topic_id from iu_core.topic_vocabulary a where a.topic_id = $3))
        order by t.topic_label, t.topic_id limit $2)
     select t.topic_id, t.workspace_id, t.topic_label, t.description, t.retired_at, t.registered_by, t.registered_at,
            (select count(*)::int from iu_core.information_unit u
              where u.content_profile ? 'topic_labels' and u.content_profile -> 'topic_labels' @> to_jsonb(t.topic_label)
                and u.deleted_at is null and (t.workspace_id is null or u.workspace_id = t.workspace_id)) as units
       from page t order by t.topic_label, t.topic_id`,
    [workspace ?? null, limit, after ?? null],
  )
  return rows
}

/** A retired one comes back. With null for every workspace: the back end only. */
export async function addTopic(
  db: Queryable,
  workspace: string | null,
  label: string,
  description?: string,
): Promise<void> {
  await db.query('select iu_core.fn_topic_add($1, $2, $3)', [workspace, label, description ?? null])
}

export async function retireTopic(db: Queryable, workspace: string | null, label: string): Promise<void> {
  await db.query('select iu_core.fn_topic_retire($1, $2)', [workspace, label])
}
