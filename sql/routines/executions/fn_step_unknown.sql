-- The playbook has no such step, or the execution never came there. Internal.
create or replace function noetl.fn_step_unknown(p_execution_id bigint, p_step text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD807',
    message = format('The execution %s has no step %L, or never came there', p_execution_id, p_step),
    detail = json_build_object('execution', p_execution_id::text, 'step', p_step)::text;
end $$;
