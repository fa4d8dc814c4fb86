-- Writes the row that fn_event_emit would write, for functions whose events are fixed: they have checked who acts and whether the
-- gate is open, their types are in the vocabulary, and the keys of their payload are their own, so that there is nothing to look
-- for in it. Internal.
create or replace function iu_core.fn_event_write(
  p_event_domain text,
  p_event_type text,
  p_event_subject_ref text,
  p_workspace_id uuid,
  p_actor text,
  p_via text,
  p_safe_payload jsonb,
  p_canonical_address text default null,
  p_event_stream text default null
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
    v_id, p_event_domain, p_event_type, p_event_stream, p_event_subject_ref, p_canonical_address, p_workspace_id,
    coalesce(v_cause.correlation_id, v_id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via, p_safe_payload);
  return v_id;
end $$;
