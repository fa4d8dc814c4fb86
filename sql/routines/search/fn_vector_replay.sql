-- Dead letters of search are tried again at once, with all their tries: those named, or all of a workspace, or for the back end
-- all there are. Returns how many.
create or replace function iu_core.fn_vector_replay(p_workspace_id uuid default null, p_outbox uuid[] default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  if cardinality(p_outbox) = 1 then
    perform iu_core.fn_vector_workspace(p_outbox[1]);
  end if;
  update iu_core.vector_outbox o
     set status = 'pending', retry_count = 0, generation = o.generation + 1,
         first_enqueued_at = clock_timestamp(), earliest_run_at = clock_timestamp(), changed_at = clock_timestamp()
   where o.status = 'dead_letter' and (p_outbox is null or o.outbox_id = any (p_outbox))
     and (p_workspace_id is null
          or o.unit_id in (select u.unit_id from iu_core.information_unit u where u.workspace_id = p_workspace_id)
          or o.document_id in (select d.document_id from iu_core.kb_document d where d.workspace_id = p_workspace_id));
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform pg_notify('stagedoor_vectors', '');
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_replay(uuid, uuid[]) to dot_executor, service_role, authenticated, stagedoor_reviewer;
