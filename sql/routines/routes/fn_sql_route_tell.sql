-- Says what became of a route. Internal.
create or replace function iu_core.fn_sql_route_tell(p_route_code text, p_change text, p_actor text default null) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_event_emit(
    'governance', 'route_changed', p_change, p_route_code, 'route:' || p_route_code, r.workspace_id,
    jsonb_build_object('route', p_route_code, 'change', p_change, 'revision', r.revision), p_actor => p_actor)
    from iu_core.iu_sql_event_route r where r.route_code = p_route_code
$$;
