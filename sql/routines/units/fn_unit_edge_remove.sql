-- Takes an edge away. One of a unit that the caller may not see is answered like one that is not there.
create or replace function iu_core.fn_unit_edge_remove(p_edge_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  e iu_core.universal_edges;
  u iu_core.information_unit;
begin
  perform iu_core.require_member(iu_core.fn_unit_edge_workspace(p_edge_id), 'operate');
  select * into e from iu_core.universal_edges where edge_id = p_edge_id;
  u := iu_core.fn_unit_metadata_lock(e.from_unit_id);
  delete from iu_core.universal_edges where edge_id = p_edge_id;
  if not found then
    raise exception using
      errcode = 'SD913',
      message = format('There is no edge %s', p_edge_id),
      detail = json_build_object('edge', p_edge_id)::text;
  end if;
  perform iu_core.fn_event_write('iu', 'edge_removed', e.from_unit_id::text, u.workspace_id, iu_core.fn_actor(), null, jsonb_build_object(
    'unit_id', e.from_unit_id, 'edge_id', p_edge_id, 'edge_type', e.edge_type, 'to_unit_id', e.to_unit_id), u.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_edge_remove(uuid) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
