-- Uploads as people list them: with the plan, the review and the promotion that belong to them.
create or replace view iu_core.v_ingest_upload with (security_invoker = true) as
  select u.upload_id, u.workspace_id, u.client_id, u.dataset, u.platform, u.file_name, u.file_hash, u.byte_len, u.run_mode,
         u.status, u.options, u.reading, u.notes, u.line_count, u.valid_count, u.invalid_count, u.skipped_count, u.warning_count, u.left_out,
         coalesce(m.control, p.control, u.control) as control, coalesce(p.repeated_keys, u.repeated_keys) as repeated_keys,
         coalesce(p.notes, '[]') as plan_notes,
         u.progress, u.error, u.cursor_name, u.cursor_value, u.uploaded_by, u.uploaded_via, u.changed_by, u.created_at,
         u.staged_at, u.read_ms, u.ended_at,
         p.digest as plan_digest, p.gate_mode, p.threshold, p.totals as plan_totals, p.refusal as plan_refusal, p.planned_by,
         p.planned_at, p.took_ms as plan_took_ms, p.review_record_id, d.approval_required,
         -- not_submitted, pending, approved, rejected, expired; NULL: nothing to approve.
         case when u.status <> 'planned' or not d.approval_required then null
              when r.staging_record_id is null then 'not_submitted'
              when r.lifecycle_status in ('pending', 'approved') and r.expires_at <= clock_timestamp() then 'expired'
              else r.lifecycle_status end as review_status,
         r.rejected_reason as review_reason,
         coalesce(m.approved_by, r.approved_by) as approved_by, coalesce(m.approved_at, r.approved_at) as approved_at, m.promoted_by, m.promoted_at, m.totals as promotion_totals, m.undo_until, m.undone_by,
         m.undone_at, m.undo_totals
    from iu_core.ingest_upload u
    join iu_core.ingest_dataset d on d.dataset = u.dataset
    left join iu_core.ingest_plan p on p.upload_id = u.upload_id
    left join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
    left join iu_core.ingest_promotion m on m.upload_id = u.upload_id;

grant select on iu_core.v_ingest_upload to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
