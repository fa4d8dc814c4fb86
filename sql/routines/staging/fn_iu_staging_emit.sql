-- The event of a transition: references only. Internal: whoever calls it has checked who acts, whether the gate is open,
-- and that the type is in the vocabulary. It writes the row that fn_event_emit would write; the keys of its payload
-- are ours and fixed, so that there is nothing to look for in it.
create or replace function iu_core.fn_iu_staging_emit(
  r iu_core.iu_staging_record,
  p_event_type text,
  p_actor text,
  p_via text default null
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := iu_core.fn_time_uuid();
  v_cause record := iu_core.fn_event_cause();
begin
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, workspace_id, correlation_id, causation_event_id, causation_depth,
    actor, actor_via, safe_payload)
  values (
    v_id, 'staging', p_event_type, r.staging_record_id::text, r.workspace_id, coalesce(v_cause.correlation_id, v_id),
    v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via,
    jsonb_strip_nulls(jsonb_build_object(
      'staging_record_id', r.staging_record_id,
      'staging_kind', r.staging_kind,
      'payload_type', r.payload_type,
      'lifecycle_status', r.lifecycle_status,
      'content_hash', r.content_hash,
      'part_count', r.part_count,
      'run_id', r.consumed_by_run_id)));
  return v_id;
end $$;
