-- Writes the event of fn_sql_route_signal, unless its key has been sent. Internal.
create or replace function iu_core.fn_sql_route_signal_send(
  p_route iu_core.iu_sql_event_route, p_forbidden text[], p_cause record,
  p_subject text, p_address text, p_payload jsonb, p_key text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := iu_core.fn_time_uuid();
begin
  if p_key is not null then
    insert into iu_core.iu_sql_event_route_key (route_code, key, event_id)
    values (p_route.route_code, sha256(convert_to(p_key, 'UTF8')), v_id) on conflict do nothing;
    if not found then
      return;
    end if;
  end if;
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
    correlation_id, causation_event_id, causation_depth, actor, safe_payload)
  values (
    v_id, p_route.target_event_domain, p_route.target_event_type, p_route.target_event_stream, p_subject, p_address,
    p_route.workspace_id, coalesce(p_cause.correlation_id, v_id), p_cause.event_id, coalesce(p_cause.depth + 1, 0),
    iu_core.fn_actor(), iu_core.fn_sql_route_refuse(p_route.route_code, p_payload, p_forbidden));
end $$;
