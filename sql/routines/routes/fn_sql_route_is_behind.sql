-- Whether a route's table has partitions without a trigger, lost some, or was altered since it was attached. Internal.
create or replace function iu_core.fn_sql_route_is_behind(p_route iu_core.iu_sql_event_route) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array(select r::oid from iu_core.fn_sql_route_relations(root.relation) r order by 1)
         <> array(select a.relation::oid from iu_core.iu_sql_event_route_attachment a
                    join pg_trigger t on t.tgrelid = a.relation and t.tgname = 'stagedoor_route_' || a.sql_event
                   where a.route_code = p_route.route_code order by 1)
      or exists (
           select from iu_core.iu_sql_event_route_attachment a
            where a.route_code = p_route.route_code and a.column_types <> array(
              select t.atttypid::regtype from unnest(a.columns) with ordinality c (name, position)
                join pg_attribute t on t.attrelid = a.relation and t.attname = c.name and not t.attisdropped
               order by c.position))
    from iu_core.iu_sql_event_route_attachment root
   where root.route_code = p_route.route_code and root.is_root
$$;
