-- The workspace of an execution that the caller may know of; one of others is answered like one that is not there. It may
-- not be projected yet, or not even have begun. Internal: definer functions give it to require_member.
create or replace function noetl.fn_execution_workspace(p_execution_id bigint) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select found_in.workspace_id into v_workspace
    from (select x.workspace_id from noetl.execution x where x.execution_id = p_execution_id
          union all
          select (e.meta ->> 'workspace_id')::uuid from noetl.event e where e.execution_id = p_execution_id and e.seq = 1
          union all
          select (i.body ->> 'workspace_id')::uuid from noetl.inbox i
           where i.execution_id = p_execution_id and i.kind = 'start') found_in
   limit 1;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    perform noetl.fn_execution_unknown(p_execution_id);
  end if;
  return v_workspace;
end $$;
