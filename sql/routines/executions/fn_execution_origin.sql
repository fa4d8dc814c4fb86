-- Where an execution comes from: the first of the executions that started it as a sub-playbook, or that it is a rerun of. Itself, if
-- none did, or if its log is not kept. Executions with the same origin may know each other's results. Internal.
create or replace function iu_core.fn_execution_origin(p_execution_id bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint := p_execution_id;
  v_from bigint;
begin
  loop
    select coalesce(e.parent_execution_id, (e.meta ->> 'rerun_of')::bigint) into v_from
      from noetl.event e where e.execution_id = v_id and e.seq = 1;
    exit when v_from is null;
    v_id := v_from;
  end loop;
  return v_id;
end $$;
