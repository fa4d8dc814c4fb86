-- Edges between units.

-- Adds an edge from a unit to a target: the canonical address or the id of a unit of its workspace, or any other reference. A
-- target that is not a unit is accepted as unverified, and the checker verifies it later. An existing edge is verified again
-- and returned; only a new one emits an event. p_actor: the person for whom a back-end service acts; other callers leave it out
-- or name themselves.
create or replace function iu_core.fn_unit_edge_add(
  p_from_unit_id uuid,
  p_edge_type text,
  p_target_ref text,
  p_actor text default null,
  out edge_id uuid,
  out edge_status text,
  out created boolean
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_to uuid;
begin
  perform iu_core.fn_unit_require_member(p_from_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  if p_edge_type is null or p_edge_type !~ '^[a-z][a-z0-9_]{0,30}$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a type of edge', p_edge_type),
      hint = 'A type of edge is a word such as refers_to: lowercase letters, digits and _, at most 31.';
  end if;
  if p_target_ref is null or p_target_ref !~ '\S' or length(p_target_ref) > 2000 then
    raise exception using
      errcode = 'SD001',
      message = 'An edge needs a target of at most 2000 characters',
      hint = 'Name the canonical address or the id of a unit, or any other reference.';
  end if;
  u := iu_core.fn_unit_metadata_lock(p_from_unit_id);
  v_to := iu_core.fn_unit_find(u.workspace_id, p_target_ref);
  if v_to = p_from_unit_id then
    raise exception using errcode = 'SD001', message = format('An edge of the unit %s cannot lead to itself', p_from_unit_id);
  end if;
  -- At most two rounds, unless another session keeps adding and removing it.
  loop
    insert into iu_core.universal_edges as e (workspace_id, from_unit_id, edge_type, target_ref, to_unit_id, edge_status, created_by, created_via)
    values (u.workspace_id, p_from_unit_id, p_edge_type, p_target_ref, v_to,
            case when v_to is null then 'unverified' else 'verified' end, v_actor.actor, v_actor.via)
    on conflict on constraint universal_edges_once do nothing
    returning e.edge_id, e.edge_status into edge_id, edge_status;
    created := found;
    exit when created;
    update iu_core.universal_edges e
       set to_unit_id = v_to, edge_status = case when v_to is null then 'unverified' else 'verified' end
     where (e.from_unit_id, e.edge_type, e.target_ref) = (p_from_unit_id, p_edge_type, p_target_ref)
    returning e.edge_id, e.edge_status into edge_id, edge_status;
    exit when found;
  end loop;
  if created then
    perform iu_core.fn_event_write('iu', 'edge_added', p_from_unit_id::text, u.workspace_id, v_actor.actor, v_actor.via, jsonb_build_object(
      'unit_id', p_from_unit_id, 'edge_id', edge_id, 'edge_type', p_edge_type, 'edge_status', edge_status, 'to_unit_id', v_to),
      u.canonical_address);
  end if;
end $$;

grant execute on function iu_core.fn_unit_edge_add(uuid, text, text, text) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Deletes an edge. An edge of a unit that the caller may not see gives the same error as a missing one.
create or replace function iu_core.fn_unit_edge_delete(p_edge_id uuid) returns void
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

grant execute on function iu_core.fn_unit_edge_delete(uuid) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- The workspace of an edge that the caller may see; another workspace's edge gives the same error as a missing one. Internal:
-- definer functions pass the result to require_member.
create or replace function iu_core.fn_unit_edge_workspace(p_edge_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.universal_edges where edge_id = p_edge_id;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD913',
      message = format('There is no edge %s', coalesce(p_edge_id::text, 'NULL')),
      detail = json_build_object('edge', p_edge_id)::text;
  end if;
  return v_workspace;
end $$;
