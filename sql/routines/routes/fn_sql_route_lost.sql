-- What has happened to the table of an attached route that makes it another one, or to its triggers; NULL: nothing.
-- Internal.
create or replace function iu_core.fn_sql_route_lost(p_route iu_core.iu_sql_event_route) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when c.oid is null then format('the table %s was dropped', iu_core.fn_sql_route_name(p_route))
    when (n.nspname, c.relname) is distinct from (p_route.source_schema::name, p_route.source_table::name)
      then format('the table %s is now called %I.%I', iu_core.fn_sql_route_name(p_route), n.nspname, c.relname)
    when t.oid is null then format('somebody dropped its trigger on %s', a.relation)
    when t.tgenabled not in ('O', 'A') then format('somebody switched its trigger on %s off', a.relation)
  end
    from iu_core.iu_sql_event_route_attachment a
    left join pg_class c on c.oid = a.relation
    left join pg_namespace n on n.oid = c.relnamespace
    left join pg_trigger t on t.tgrelid = a.relation and t.tgname = 'stagedoor_route_' || a.sql_event
                          and t.tgfoid = 'iu_core.fn_sql_event_route()'::regprocedure
   where a.route_code = p_route.route_code and a.is_root
  union all
  select 'somebody dropped its event triggers, or switched them off'
   where p_route.source_object_kind = 'database'
     and (select count(*) from pg_event_trigger
           where evtfoid = 'iu_core.fn_sql_route_ddl()'::regprocedure and evtenabled in ('O', 'A')) < 2
$$;
