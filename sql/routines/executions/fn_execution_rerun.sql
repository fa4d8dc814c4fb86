-- Begins a new execution from a step of an old one, with its arguments and its version of the playbook, or another one: a
-- playbook that was wrong is mended by a new version. The engine finds in the old log what had ended before that step.
create or replace function noetl.fn_execution_rerun(p_execution_id bigint, p_from_step text, p_version integer default null) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member text;
  v_begun noetl.event;
  c noetl.catalog;
  v_id bigint;
begin
  v_member := iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'operate');
  select * into v_begun from noetl.event e where e.execution_id = p_execution_id and e.seq = 1;
  if not found then
    -- It has not begun: there is no step that it came to.
    perform noetl.fn_step_unknown(p_execution_id, p_from_step);
  end if;
  select (noetl.fn_playbook_require(k.path, coalesce(p_version, k.version))).* into c from noetl.catalog k where k.catalog_id = v_begun.catalog_id;
  if v_member <> 'service' and not c.open_to_members then
    raise exception using
      errcode = 'SD810',
      message = format('The playbook %s is started by the back end only', c.path),
      detail = json_build_object('playbook', c.path)::text;
  end if;
  if not exists (select from jsonb_array_elements(c.payload -> 'steps') s where s ->> 'step' = p_from_step)
     or not exists (select from noetl.event e where e.execution_id = p_execution_id and e.node_name = p_from_step) then
    perform noetl.fn_step_unknown(p_execution_id, p_from_step);
  end if;
  v_id := noetl.fn_snowflake();
  perform noetl.fn_execution_begin(v_id, jsonb_build_object(
    'catalog_id', c.catalog_id::text,
    -- Another version may take fewer.
    'args', (select coalesce(jsonb_object_agg(a.key, a.value), '{}') from jsonb_each(v_begun.context -> 'args') a
              where coalesce(c.payload -> 'args', '{}') ? a.key),
    'workspace_id', v_begun.meta ->> 'workspace_id',
    'rerun_of', p_execution_id::text, 'from_step', p_from_step));
  return v_id;
end $$;

grant execute on function noetl.fn_execution_rerun(bigint, text, integer) to authenticated, service_role, dot_executor, stagedoor_reviewer;
