-- An enacted unit gives way to another enacted one of its workspace, under the approval that whoever decides names.
-- p_actor: the person whose decision a back-end service carries out; reviewers name nobody, or themselves.
create or replace function iu_core.fn_unit_supersede(p_unit_id uuid, p_successor_id uuid, p_apr_ref text, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_actor record;
  u iu_core.information_unit;
  s iu_core.information_unit;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_unit_decided_by(p_actor);
  perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  if p_successor_id = p_unit_id then
    raise exception using errcode = 'SD001', message = 'A unit does not take its own place';
  end if;
  -- Whoever holds two units holds the tree: moves lock a unit and its container, too.
  perform iu_core.fn_unit_tree_lock(v_workspace);
  perform from iu_core.information_unit where unit_id in (p_unit_id, p_successor_id) order by unit_id for no key update;
  select * into u from iu_core.information_unit where unit_id = p_unit_id;
  select * into s from iu_core.information_unit where unit_id = p_successor_id and workspace_id = u.workspace_id;
  if not found then
    perform iu_core.fn_unit_refuse_unknown(p_successor_id);
  end if;
  if u.lifecycle_status <> 'enacted' or u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_transition(u, 'superseded');
  end if;
  if s.lifecycle_status <> 'enacted' or s.deleted_at is not null then
    perform iu_core.fn_unit_refuse_transition(s, 'a successor before it is enacted');
  end if;
  update iu_core.information_unit
     set lifecycle_status = 'superseded', superseded_by = p_successor_id, apr_ref = p_apr_ref where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'enacted', 'superseded', v_actor.actor, v_actor.via, p_apr_ref);
end $$;

grant execute on function iu_core.fn_unit_supersede(uuid, uuid, text, text) to dot_executor, service_role, stagedoor_reviewer;
