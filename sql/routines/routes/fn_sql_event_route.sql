-- The one trigger function behind every route: one call for each statement, one insert for all its rows. It runs as the
-- owner, so that whoever writes the table needs no right of ours; which routes there are, only the registrar decides.
--
-- The settings: how a value is written must not depend on the session, or equal keys would look different.
--
-- A closed route has no exception block: each would be a subtransaction, and more than 64 of them in one transaction slow
-- down every session of the server. What can be foreseen is raised as an error of ours; anything else aborts as it is.
create or replace function iu_core.fn_sql_event_route() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'iso_8601'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
  v_route record;
  v_cause record;
  v_actor text;
  v_ids text;
  v_state text;
  v_reason text;
begin
  for v_route in
    select r as definition, r.route_code, r.dry_run, r.fail_closed, r.revision, r.workspace_id,
           r.target_event_domain, r.target_event_type, r.target_event_stream, a.forbidden,
           case when a.column_types = array(
                  select t.atttypid::regtype from unnest(a.columns) with ordinality c (name, position)
                    join pg_attribute t on t.attrelid = a.relation and t.attname = c.name and not t.attisdropped
                   order by c.position)
             then case when r.dry_run then a.rehearse_sql else a.send_sql end end as prepared
      from iu_core.iu_sql_event_route_attachment a
      join iu_core.iu_sql_event_route r on r.route_code = a.route_code and r.revision = a.revision
     where a.relation = tg_relid and a.sql_event = lower(tg_op) and r.enabled
     order by r.route_code
  loop
    if tg_op = 'TRUNCATE' then
      -- Truncating a table fires for each of its partitions, too: they are one statement, and one event.
      perform iu_core.fn_sql_route_signal(
        v_route.definition, null, 'sql:' || iu_core.fn_sql_route_name(v_route.definition),
        jsonb_build_object('table', iu_core.fn_sql_route_name(v_route.definition), 'truncated', tg_relid::regclass::text),
        format('truncate:%s:%s', pg_current_xact_id(), statement_timestamp()));
      continue;
    end if;
    if v_ids is null then
      v_cause := iu_core.fn_event_cause();
      v_ids := left(iu_core.fn_time_uuid()::text, 24);
    end if;
    if v_route.fail_closed and not v_route.dry_run then
      v_actor := coalesce(v_actor, iu_core.fn_actor());
      execute coalesce(v_route.prepared, iu_core.fn_sql_route_anew(v_route.definition, tg_relid))
        using v_route.route_code, v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
              v_route.workspace_id, v_cause.correlation_id, v_cause.event_id, coalesce(v_cause.depth + 1, 0)::smallint,
              v_actor, v_route.forbidden, v_route.revision, tg_relid::regclass::text, v_ids;
    else
      begin
        -- A token that names nobody is such a failure, too.
        v_actor := coalesce(v_actor, iu_core.fn_actor());
        execute coalesce(v_route.prepared, iu_core.fn_sql_route_anew(v_route.definition, tg_relid))
          using v_route.route_code, v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
                v_route.workspace_id, v_cause.correlation_id, v_cause.event_id, coalesce(v_cause.depth + 1, 0)::smallint,
                v_actor, v_route.forbidden, v_route.revision, tg_relid::regclass::text, v_ids;
        if v_route.dry_run then
          perform iu_core.fn_sql_route_evidence_trim(v_route.route_code);
        end if;
      exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_reason = message_text;
        perform iu_core.fn_sql_route_failed(v_route.route_code, tg_relid::regclass::text, v_state, v_reason);
      end;
    end if;
  end loop;
  return null;
end $$;
