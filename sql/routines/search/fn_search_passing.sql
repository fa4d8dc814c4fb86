-- Which of these chunks of units the filters let through: for a store that was asked for more because they leave too many over to be
-- listed for it (fn_search_allowed_ids).
create or replace function iu_core.fn_search_passing(p_workspace_id uuid, p_filters jsonb, p_chunk_ids uuid[]) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record;
  v_passing uuid[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_condition := iu_core.fn_search_filter(p_filters);
  execute format(
    'select array_agg(c.chunk_id) from iu_core.search_chunk c join iu_core.information_unit u on u.unit_id = c.unit_id
      where c.chunk_id = any ($3) and %s and %s', v_condition.units, v_condition.chunks)
    into v_passing using p_workspace_id, p_filters, p_chunk_ids;
  return coalesce(v_passing, '{}');
end $$;

grant execute on function iu_core.fn_search_passing(uuid, jsonb, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
