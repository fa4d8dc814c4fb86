-- Makes the trigger for one event on one table, unless it is there; all routes of that event share it. Internal.
create or replace function iu_core.fn_sql_route_trigger(p_relation regclass, p_sql_event text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := 'stagedoor_route_' || p_sql_event;
  v_trigger pg_trigger;
  v_reason text;
begin
  select * into v_trigger from pg_trigger where tgrelid = p_relation and tgname = v_name;
  if found then
    v_reason := case
      when v_trigger.tgfoid <> 'iu_core.fn_sql_event_route()'::regprocedure
        then format('%s has a trigger called %s that is not ours; drop or rename it', p_relation, v_name)
      when v_trigger.tgenabled not in ('O', 'A')
        then format('its trigger is switched off; the owner runs: alter table %s enable trigger %s;', p_relation, v_name)
    end;
    if v_reason is not null then
      raise exception using
        errcode = 'SD315',
        message = format('The route cannot be attached: %s', v_reason),
        hint = 'Do that, then try again.',
        detail = json_build_object('table', p_relation::text, 'reason', v_reason)::text;
    end if;
    return;
  end if;
  execute format('create trigger %I after %s on %s %s for each statement execute function iu_core.fn_sql_event_route()',
    v_name, p_sql_event, p_relation,
    case p_sql_event
      when 'insert' then 'referencing new table as stagedoor_new'
      when 'update' then 'referencing old table as stagedoor_old new table as stagedoor_new'
      when 'delete' then 'referencing old table as stagedoor_old'
    end);
end $$;
