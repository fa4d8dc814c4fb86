-- Gives the units of a container another order: all that are in it, each once, so that nobody reorders what they have not
-- seen. One event for the container; none where the order is that already.
create or replace function iu_core.fn_unit_reorder(p_container_id uuid, p_unit_ids uuid[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  c iu_core.information_unit;
  v_present uuid[];
begin
  v_workspace := iu_core.fn_unit_require_member(p_container_id, 'operate');
  perform iu_core.fn_unit_tree_lock(v_workspace);
  c := iu_core.fn_unit_metadata_lock(p_container_id);
  v_present := iu_core.fn_unit_children(p_container_id);
  if p_unit_ids is null
     or array(select unnest(p_unit_ids) order by 1) is distinct from array(select unnest(v_present) order by 1) then
    raise exception using
      errcode = 'SD001',
      message = format('An order of the unit %s names each of its %s units once', p_container_id, cardinality(v_present)),
      hint = 'Somebody may have moved a unit in or out. Read the container again.',
      detail = json_build_object('container', p_container_id, 'units', cardinality(v_present))::text;
  end if;
  if p_unit_ids = v_present then
    return;
  end if;
  perform iu_core.fn_unit_number(p_unit_ids);
  perform iu_core.fn_event_write('piece', 'piece_reordered', p_container_id::text, v_workspace, iu_core.fn_actor(), null,
    jsonb_build_object('unit_id', p_container_id, 'pieces', cardinality(p_unit_ids)), c.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_reorder(uuid, uuid[]) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
