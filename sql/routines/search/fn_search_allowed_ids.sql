-- The ids of all chunks that filters let through, for a store that is to look among these alone; NULL where there are more than
-- p_most: then it is cheaper to ask for more and to throw away.
create or replace function iu_core.fn_search_allowed_ids(p_workspace_id uuid, p_filters jsonb, p_most integer default 10000) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_chunks integer[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_chunks := iu_core.fn_search_allowed(p_workspace_id, p_filters, p_most);
  return case when v_chunks is not null
              then array(select c.chunk_id from iu_core.search_chunk c where c.chunk_no = any (v_chunks) order by c.chunk_id) end;
end $$;

grant execute on function iu_core.fn_search_allowed_ids(uuid, jsonb, integer) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
