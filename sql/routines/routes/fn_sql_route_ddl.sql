-- The event trigger behind DDL routes: one event for each object that a command made, altered or dropped. What Stagedoor
-- does to its own schemas, and temporary objects, are nobody's news.
-- A trigger or a policy has no schema of its own; the first part of its address is that of its table.
create or replace function iu_core.fn_sql_route_ddl() returns event_trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route iu_core.iu_sql_event_route;
  v_change record;
begin
  for v_route in select * from iu_core.iu_sql_event_route where source_object_kind = 'database' and enabled order by route_code loop
    if tg_event = 'sql_drop' then
      for v_change in
        select tg_tag as command_tag, object_type, object_identity,
               coalesce(schema_name, case when cardinality(address_names) > 1 then address_names[1] end) as schema_name
          from pg_event_trigger_dropped_objects() where original and not is_temporary
      loop
        perform iu_core.fn_sql_route_ddl_change(v_route, to_jsonb(v_change));
      end loop;
    else
      for v_change in
        select c.command_tag, c.object_type, c.object_identity,
               coalesce(c.schema_name, case when cardinality(a.object_names) > 1 then a.object_names[1] end) as schema_name
          from pg_event_trigger_ddl_commands() c
          left join lateral pg_identify_object_as_address(c.classid, c.objid, c.objsubid) a on true
      loop
        perform iu_core.fn_sql_route_ddl_change(v_route, to_jsonb(v_change));
      end loop;
    end if;
  end loop;
end $$;
