-- Puts a unit into a container of its workspace, at a position from 1 or at the end; NULL takes it out of any. Within its
-- container it is a reordering, and told as one. A container is never inside what it holds, whoever moves what at once.
create or replace function iu_core.fn_unit_move(p_unit_id uuid, p_container_id uuid, p_position integer default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  u iu_core.information_unit;
  v_order uuid[];
  v_position integer := 0;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_id, 'operate');
  if p_position < 1 or (p_container_id is null and p_position is not null) then
    raise exception using
      errcode = 'SD001',
      message = format('%s is not a position%s', p_position, case when p_container_id is null then ' outside of containers' end),
      hint = 'Positions count from 1 in a container; leave it out for the end.';
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  if u.container_id is not distinct from p_container_id and p_position is null then
    return;
  end if;
  if p_container_id is not null then
    -- It locks the container: what is alive afterwards is so until the end.
    perform iu_core.fn_unit_cycle_check(p_unit_id, p_container_id);
    perform iu_core.fn_unit_container_check(v_workspace, p_container_id);
  end if;
  if p_position is not null then
    v_order := array_remove(iu_core.fn_unit_children(p_container_id), p_unit_id);
    v_position := least(p_position, cardinality(v_order) + 1);
    v_order := v_order[:v_position - 1] || p_unit_id || v_order[v_position:];
  elsif p_container_id is not null then
    select coalesce(max(c.position), 0) + 1 into v_position from iu_core.information_unit c
     where c.container_id = p_container_id and c.deleted_at is null and c.lifecycle_status in ('draft', 'enacted');
  end if;
  if u.container_id = p_container_id then
    perform iu_core.fn_unit_reorder(p_container_id, v_order);
    return;
  end if;
  update iu_core.information_unit
     set container_id = p_container_id, position = v_position, changed_at = clock_timestamp()
   where unit_id = p_unit_id;
  -- The others make room. At the end they need not.
  perform iu_core.fn_unit_number(v_order);
  perform iu_core.fn_event_write('iu', 'unit_moved', p_unit_id::text, v_workspace, iu_core.fn_actor(), null, jsonb_build_object(
    'unit_id', p_unit_id, 'from_container_id', u.container_id, 'container_id', p_container_id, 'position', v_position),
    u.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_move(uuid, uuid, integer) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
