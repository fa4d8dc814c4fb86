-- The event of a change of one unit: references, numbers and hashes. Internal: whoever calls it has checked who acts, and that
-- the type is in the vocabulary. It writes the row that fn_event_emit would write; the keys of the payload are ours and
-- fixed, so that there is nothing to look for in it.
create or replace function iu_core.fn_unit_emit(
  u iu_core.information_unit,
  p_event_domain text,
  p_event_type text,
  p_actor text,
  p_safe_payload jsonb,
  p_event_stream text default null,
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
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id, correlation_id,
    causation_event_id, causation_depth, actor, actor_via, safe_payload)
  values (
    v_id, p_event_domain, p_event_type, p_event_stream, u.unit_id::text, u.canonical_address, u.workspace_id,
    coalesce(v_cause.correlation_id, v_id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via, p_safe_payload);
  return v_id;
end $$;
