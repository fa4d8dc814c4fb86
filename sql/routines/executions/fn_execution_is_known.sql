-- Whether an execution of this database has this id. The API asks it about requests that a playbook sent.
create or replace function iu_core.fn_execution_is_known(p_execution_id bigint) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from noetl.event e where e.execution_id = p_execution_id and e.seq = 1);
end $$;

grant execute on function iu_core.fn_execution_is_known(bigint) to dot_executor, service_role;
