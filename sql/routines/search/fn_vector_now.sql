-- What waits for quiet is due now: these units (of one workspace), or whatever waits in a workspace. Workers hear of it. Returns how
-- many were waiting.
create or replace function iu_core.fn_vector_now(p_unit_ids uuid[] default null, p_workspace_id uuid default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_count integer;
begin
  perform iu_core.require_member(coalesce(p_workspace_id, iu_core.fn_unit_workspace(p_unit_ids[1])), 'operate');
  v_workspace := coalesce(p_workspace_id, iu_core.fn_unit_workspace(p_unit_ids[1]));
  update iu_core.vector_outbox o
     set earliest_run_at = clock_timestamp()
   where o.status in ('pending', 'processing') and o.retry_count = 0 and o.earliest_run_at > clock_timestamp()
     and case when p_unit_ids is null
              then o.unit_id in (select u.unit_id from iu_core.information_unit u where u.workspace_id = v_workspace)
                   or o.document_id in (select d.document_id from iu_core.kb_document d where d.workspace_id = v_workspace)
              else o.unit_id in (select u.unit_id from iu_core.information_unit u
                                  where u.unit_id = any (p_unit_ids) and u.workspace_id = v_workspace) end;
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform pg_notify('stagedoor_vectors', '');
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_now(uuid[], uuid) to dot_executor, service_role, authenticated, stagedoor_reviewer;
