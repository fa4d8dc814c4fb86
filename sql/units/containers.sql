-- Containers: moving and ordering units.

-- Moves a unit into a container of its workspace, at a position from 1 or at the end; NULL moves it out of any container.
-- Within its container this is a reordering and emits that event. A container is never inside a unit that it contains, also
-- with concurrent moves.
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
  perform iu_core.fn_unit_renumber(v_order);
  perform iu_core.fn_event_write('iu', 'unit_moved', p_unit_id::text, v_workspace, iu_core.fn_actor(), null, jsonb_build_object(
    'unit_id', p_unit_id, 'from_container_id', u.container_id, 'container_id', p_container_id, 'position', v_position),
    u.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_move(uuid, uuid, integer) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Raises if a unit would be inside itself. Internal: under fn_unit_tree_lock, or two concurrent moves could make a cycle. Locks
-- every container above: a transaction with an older snapshot then fails instead of seeing the old tree.
create or replace function iu_core.fn_unit_cycle_check(p_unit_id uuid, p_container_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above uuid := p_container_id;
begin
  while v_above is not null loop
    if v_above = p_unit_id then
      raise exception using
        errcode = 'SD908',
        message = format('The unit %s cannot be inside %s, which is inside it', p_unit_id, p_container_id),
        detail = json_build_object('unit', p_unit_id, 'container', p_container_id)::text;
    end if;
    select container_id into v_above from iu_core.information_unit where unit_id = v_above for share;
  end loop;
end $$;

-- Changes the order of the units in a container: all of them, each once, so that nobody reorders units that they have not seen.
-- One event for the container; none if the order does not change.
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
      message = format('The order of the unit %s must name each of its %s units once', p_container_id, cardinality(v_present)),
      hint = 'Someone may have moved a unit in or out. Read the container again.',
      detail = json_build_object('container', p_container_id, 'units', cardinality(v_present))::text;
  end if;
  if p_unit_ids = v_present then
    return;
  end if;
  perform iu_core.fn_unit_renumber(p_unit_ids);
  perform iu_core.fn_event_write('piece', 'piece_reordered', p_container_id::text, v_workspace, iu_core.fn_actor(), null,
    jsonb_build_object('unit_id', p_container_id, 'pieces', cardinality(p_unit_ids)), c.canonical_address);
end $$;

grant execute on function iu_core.fn_unit_reorder(uuid, uuid[]) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- After a change of order in a container: numbers its units without gaps and returns its text summary: the number of units and
-- the SHA-256 of their bodies joined by an empty line. A successor that is still a draft is left out: its predecessor counts.
-- Above 64 MiB the hash is omitted, because so much text would be held in memory. Back-end code only; it emits no event, or it
-- would trigger itself.
create or replace function iu_core.fn_unit_recompose(p_container_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_order uuid[];
  v_versions uuid[];
  v_bytes bigint;
  v_hash text;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_container_id;
  if not found then
    return jsonb_build_object('skipped', 'there is no such unit');
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  v_order := iu_core.fn_unit_children(p_container_id);
  perform iu_core.fn_unit_renumber(v_order);
  v_versions := array(
    select u.current_version_id
      from unnest(v_order) with ordinality as o (unit_id, number)
      join iu_core.information_unit u on u.unit_id = o.unit_id
     where not (u.lifecycle_status = 'draft'
                and exists (select from iu_core.information_unit p
                             where p.unit_id = u.supersedes and p.unit_id = any (v_order)))
     order by o.number);
  select coalesce(sum(octet_length(v.body)), 0) into v_bytes from iu_core.unit_version v where v.unit_version_id = any (v_versions);
  if v_bytes <= 64 * 1024 * 1024 then
    select encode(sha256(convert_to(coalesce(string_agg(v.body, E'\n\n' order by o.number), ''), 'UTF8')), 'hex') into v_hash
      from unnest(v_versions) with ordinality as o (unit_version_id, number)
      join iu_core.unit_version v on v.unit_version_id = o.unit_version_id;
  end if;
  return jsonb_build_object('container_id', p_container_id, 'pieces', cardinality(v_versions), 'bytes', v_bytes, 'content_hash', v_hash);
end $$;

grant execute on function iu_core.fn_unit_recompose(uuid) to dot_executor, service_role;

-- Raises unless the container is another live unit of the same workspace. A unit of another workspace gives the same error as a
-- missing one. Internal.
create or replace function iu_core.fn_unit_container_check(p_workspace_id uuid, p_container_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
begin
  select case when deleted_at is null then lifecycle_status else 'deleted' end into v_status
    from iu_core.information_unit where unit_id = p_container_id and workspace_id = p_workspace_id;
  if not found then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', p_container_id),
      detail = json_build_object('unit', p_container_id)::text;
  end if;
  if v_status in ('deleted', 'retired') then
    raise exception using
      errcode = 'SD903',
      message = format('The unit %s is %s and cannot contain other units', p_container_id, v_status),
      detail = json_build_object('unit', p_container_id, 'status', v_status)::text;
  end if;
end $$;

-- The live units in a container, in order; superseded, retired and deleted units are left out. Units with the same position are
-- ordered by id, so that the order is unique. Internal.
create or replace function iu_core.fn_unit_children(p_container_id uuid) returns uuid[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select u.unit_id from iu_core.information_unit u
     where u.container_id = p_container_id and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
     order by u.position, u.unit_id);
end $$;

-- Numbers units from 1 in the given order. Writes, and locks, only those whose number changes. Internal: under
-- fn_unit_tree_lock.
create or replace function iu_core.fn_unit_renumber(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with numbered as (
    select u.unit_id, n.number
      from unnest(p_unit_ids) with ordinality as n (unit_id, number)
      join iu_core.information_unit u on u.unit_id = n.unit_id
     where u.position <> n.number
     -- In the order of ids, as every function that locks several.
     order by u.unit_id
       for no key update of u
  )
  update iu_core.information_unit u
     set position = n.number, changed_at = clock_timestamp()
    from numbered n
   where u.unit_id = n.unit_id;
end $$;

-- Serializes changes of containers and order in a workspace until the end of the transaction: only then can a cycle be
-- excluded. Internal: taken before rows are locked.
create or replace function iu_core.fn_unit_tree_lock(p_workspace_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('stagedoor.unit_tree ' || p_workspace_id, 0))
$$;
