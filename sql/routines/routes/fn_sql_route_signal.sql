-- One event of a route that does not come from rows: a table was emptied, a procedure called, an object altered. Dry run,
-- key and failure are treated as those of rows. Internal.
create or replace function iu_core.fn_sql_route_signal(
  p_route iu_core.iu_sql_event_route, p_subject text, p_address text, p_payload jsonb, p_key text default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forbidden text[] := iu_core.fn_sql_route_forbidden(p_route.payload_contract);
  v_cause record := iu_core.fn_event_cause();
  v_state text;
  v_reason text;
begin
  if p_route.dry_run then
    begin
      insert into iu_core.iu_sql_event_route_evidence (route_code, revision, relation, events, refused, sample, actor)
      values (p_route.route_code, p_route.revision, p_address, 1, 0,
              jsonb_build_array(jsonb_build_object(
                'event_subject_ref', p_subject, 'canonical_address', p_address, 'workspace_id', p_route.workspace_id,
                'safe_payload', iu_core.fn_sql_route_refuse(p_route.route_code, p_payload, v_forbidden))),
              iu_core.fn_actor());
      perform iu_core.fn_sql_route_evidence_trim(p_route.route_code);
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
      perform iu_core.fn_sql_route_failed(p_route.route_code, p_address, v_state, v_reason);
    end;
  elsif p_route.fail_closed then
    perform iu_core.fn_sql_route_signal_send(p_route, v_forbidden, v_cause, p_subject, p_address, p_payload, p_key);
  else
    begin
      perform iu_core.fn_sql_route_signal_send(p_route, v_forbidden, v_cause, p_subject, p_address, p_payload, p_key);
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
      perform iu_core.fn_sql_route_failed(p_route.route_code, p_address, v_state, v_reason);
    end;
  end if;
end $$;
