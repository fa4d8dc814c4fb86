-- Raises where a table is not there, or where whoever attaches may not put triggers on it, with the statements that its
-- owner runs. Internal.
create or replace function iu_core.fn_sql_route_require_rights(p_route iu_core.iu_sql_event_route, p_root regclass) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_statements text[];
begin
  if p_root is null then
    raise exception using
      errcode = 'SD315',
      message = format('The route %s waits for the table %s, which is not there', p_route.route_code, iu_core.fn_sql_route_name(p_route)),
      hint = 'Create the table, then try again.',
      detail = json_build_object('route', p_route.route_code, 'table', iu_core.fn_sql_route_name(p_route))::text;
  end if;
  select array_agg(statement order by position, statement) into v_statements
    from (select distinct 1, format('grant usage on schema %I to %I;', n.nspname, current_user)
            from iu_core.fn_sql_route_relations(p_root) r
            join pg_class c on c.oid = r join pg_namespace n on n.oid = c.relnamespace
           where not has_schema_privilege(n.oid, 'usage')
          union all
          select 2, format('grant trigger on table %s to %I;', r, current_user)
            from iu_core.fn_sql_route_relations(p_root) r
           where not has_table_privilege(r, 'trigger')) needed (position, statement);
  if v_statements is not null then
    raise exception using
      errcode = 'SD315',
      message = format('%s may not put a trigger on %s. Its owner runs once: %s', current_user, p_root, array_to_string(v_statements, ' ')),
      detail = json_build_object('route', p_route.route_code, 'table', p_root::text, 'statements', v_statements)::text;
  end if;
end $$;
