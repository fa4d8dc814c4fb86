-- The event of a transition: references only. Internal: whoever calls it has checked who acts, whether the gate is open,
-- and that the type is in the vocabulary.
create or replace function iu_core.fn_iu_staging_emit(
  r iu_core.iu_staging_record,
  p_event_type text,
  p_actor text,
  p_via text default null
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_event_write('staging', p_event_type, r.staging_record_id::text, r.workspace_id, p_actor, p_via,
    jsonb_strip_nulls(jsonb_build_object(
      'staging_record_id', r.staging_record_id,
      'staging_kind', r.staging_kind,
      'payload_type', r.payload_type,
      'lifecycle_status', r.lifecycle_status,
      'content_hash', r.content_hash,
      'part_count', r.part_count,
      'run_id', r.consumed_by_run_id)));
end $$;
