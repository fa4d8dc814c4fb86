/**
 * What exactly happened to an upload: which line and column from what to what, which choice, which plan, who said what, why it was
 * rejected. Read from the tables that hold it, with the caller's rights; events name no value.
 */
import type { Queryable } from '../kernel/postgres/connection.ts'
import {
  IntegerOrNull,
  JsonObject,
  type Row,
  shape,
  Text,
  TextOrNull,
  Timestamp,
  Type,
} from '../kernel/schema.ts'

export const UploadHistoryEntry = shape('UploadHistoryEntry', {
  place: Type.String({ description: 'give it as `after` for the entries that follow' }),
  at: Timestamp,
  actor: Text,
  via: TextOrNull,
  what: Type.String({
    description:
      'uploaded, read, failed, corrected, left_out, taken_in, planned, conflicts_answered, submitted, asked_again, review_requested, reviewed, review_kept, review_dismissed, titled, described, labelled, rejected, promoted, promotion_failed, undo_requested, undo_declined, undone, discarded',
  }),
  line: IntegerOrNull,
  column: Type.Union([Type.String(), Type.Null()], {
    description: 'the header of the file, of a corrected cell',
  }),
  from: TextOrNull,
  to: TextOrNull,
  text: Type.Union([Type.String(), Type.Null()], {
    description:
      'what somebody wrote: the text of a review, the reason of a rejection, dismissal or undo, an error',
  }),
  detail: JsonObject,
})
export type UploadHistoryEntry = Row<typeof UploadHistoryEntry>

export interface UploadHistoryPage {
  readonly limit: number
  /** The place of the last entry of the page before. */
  readonly after?: string | undefined
}

/** Oldest first. */
export async function listUploadHistory(
  db: Queryable,
  upload: string,
  { limit, after }: UploadHistoryPage,
): Promise<UploadHistoryEntry[]> {
  const { rows } = await db.query<UploadHistoryEntry>(
    `with entry as (
       select u.created_at as at, 'a' as key, u.uploaded_by as actor, u.uploaded_via as via, 'uploaded' as what,
              null::integer as line, null::text as "column", null::text as "from", null::text as "to", null::text as text,
              jsonb_strip_nulls(jsonb_build_object('file', u.file_name, 'headers', nullif(u.options -> 'headers', '{}'),
                'values', nullif(u.options -> 'values', '{}'), 'repeated_keys', u.options -> 'repeated_keys')) as detail
         from iu_core.ingest_upload u where u.upload_id = $1
       union all
       select e.created_at, 'e' || e.id, e.actor, e.actor_via,
              case e.event_type when 'ingestion_staged' then 'read' else replace(e.event_type, 'ingestion_', '') end,
              null, null, null, null, null, e.safe_payload - 'upload_id' - 'dataset' - 'platform' - 'staging_record_id'
         from iu_core.event_outbox e
        where e.event_domain = 'staging' and e.event_subject_ref = $1::text
          and (e.event_type in ('ingestion_staged', 'ingestion_failed', 'ingestion_submitted', 'ingestion_discarded')
               -- A dry run has no change, and so no history of its own.
               or e.event_type = 'ingestion_planned' and not exists (select from iu_core.change c where c.subject_id = $1))
       union all
       select r.repaired_at, 'r' || lpad(r.repair_id::text, 20, '0'), r.repaired_by, r.repaired_via, r.what, r.row_number, r.column_name,
              r.old_value, r.new_value, null, '{}'
         from iu_core.ingest_repair r where r.upload_id = $1
       union all
       select h.at, 'h' || lpad(h.seq::text, 9, '0'), h.actor, h.via, h.what, null, null, null, null,
              case when h.what in ('reviewed', 'undo_requested') then nullif(m.body, '') when h.what = 'review_dismissed' then
                case when h.detail ->> 'because' = 'dismissed' then o.dismissed_reason end end,
              h.detail
         from iu_core.change c
         join iu_core.change_history h on h.change_id = c.change_id
         left join iu_core.change_review o on o.review_id::text = h.detail ->> 'review_id'
         left join iu_core.change_comment m on m.comment_id = coalesce(o.body_comment_id, case h.what when 'undo_requested' then (h.detail ->> 'comment_id')::uuid end)
        where c.kind = 'upload' and c.subject_id = $1
          and h.what in ('planned', 'titled', 'described', 'labelled', 'review_requested', 'asked_again', 'reviewed', 'review_kept', 'review_dismissed',
                       'undo_requested', 'undo_declined')
       union all
       select r.rejected_at, 'j' || r.staging_record_id, r.rejected_by, null, 'rejected', null, null, null, null, r.rejected_reason,
              jsonb_build_object('digest', r.metadata -> 'plan_digest')
         from iu_core.ingest_submission s join iu_core.iu_staging_record r using (staging_record_id)
        where s.upload_id = $1 and r.rejected_at is not null and r.rejected_reason <> 'the plan was replaced'
       union all
       select a.answered_at, 'k' || lpad(a.answer_id::text, 20, '0'), a.answered_by, a.answered_via, 'conflicts_answered', null, null, null, null, null,
              jsonb_build_object('answer', a.answer, 'cells', a.cells, 'row_count', a.row_count, 'columns', a.columns)
         from iu_core.ingest_conflict_answer a where a.upload_id = $1
       union all
       select f.failed_at, 'f' || f.failure_id, f.tried_by, f.tried_via, 'promotion_failed', null, null, null, null,
              concat_ws(' ', f.error ->> 'message', f.error ->> 'hint'), jsonb_build_object('digest', f.plan_digest)
         from iu_core.ingest_promotion_failure f where f.upload_id = $1
       union all
       select m.promoted_at, 'p', m.promoted_by, m.promoted_via, 'promoted', null, null, null, null, null,
              jsonb_build_object('digest', m.plan_digest, 'totals', m.totals, 'approvers', iu_core.fn_change_approvers(m.upload_id))
         from iu_core.ingest_promotion m where m.upload_id = $1
       union all
       select m.undone_at, 'u', m.undone_by, null, 'undone', null, null, null, null, m.undo_reason, jsonb_build_object('totals', m.undo_totals)
         from iu_core.ingest_promotion m where m.upload_id = $1 and m.undone_at is not null
     )
     select p.place, at, coalesce(actor, 'stagedoor') as actor, via, what, line, "column", "from", "to", text, detail
       from entry, lateral (select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || key as place) p
      where $2::text is null or p.place collate "C" > $2
      order by p.place collate "C" limit $3`,
    [upload, after ?? null, limit],
  )
  return rows
}
