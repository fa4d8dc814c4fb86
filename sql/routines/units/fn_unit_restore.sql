-- Brings a deleted unit back as what it was, for those who may delete it.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_restore(p_unit_id uuid, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  -- A cut looks whether a successor is there before it makes one.
  perform iu_core.fn_unit_tree_lock(workspace_id) from iu_core.information_unit where unit_id = p_unit_id and supersedes is not null;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' then
    perform iu_core.require_member(u.workspace_id, 'review');
  end if;
  if u.deleted_at is null then
    perform iu_core.fn_unit_refuse_transition(u, 'restored');
  end if;
  begin
    update iu_core.information_unit set deleted_at = null where unit_id = p_unit_id;
  exception when unique_violation then
    -- One successor is worked on at a time, and meanwhile another one is.
    perform iu_core.fn_unit_refuse_transition(u, 'restored beside another successor');
  end;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'upsert');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], 'deleted', u.lifecycle_status, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_restore(uuid, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;
