-- The event triggers behind DDL routes. Only a superuser (or what a provider allows instead) makes them; otherwise it says
-- what to run. Internal.
create or replace function iu_core.fn_sql_route_attach_ddl() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
  v_statement text;
begin
  select array_agg(format('create event trigger %I on %s execute function iu_core.fn_sql_route_ddl()', name, event)) into v_missing
    from (values ('stagedoor_route_ddl', 'ddl_command_end'), ('stagedoor_route_drop', 'sql_drop')) wanted (name, event)
   where not exists (select from pg_event_trigger t
                      where t.evtname = name and t.evtfoid = 'iu_core.fn_sql_route_ddl()'::regprocedure and t.evtenabled in ('O', 'A'));
  foreach v_statement in array coalesce(v_missing, '{}') loop
    execute v_statement;
  end loop;
exception when insufficient_privilege then
  raise exception using
    errcode = 'SD317',
    message = 'Routes of DDL are unavailable: event triggers need a superuser, and there is none of ours yet',
    detail = json_build_object('statements', array(select s || ';' from unnest(v_missing) s))::text;
end $$;
