-- Takes a unit out of sight and out of search; its row, versions and address stay, and fn_unit_restore brings it back. Whoever
-- writes may delete a draft; what was decided about is deleted by those who decide.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_delete(p_unit_id uuid, p_reason text default null, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' then
    perform iu_core.require_member(u.workspace_id, 'review');
  end if;
  if u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_transition(u, 'deleted');
  end if;
  update iu_core.information_unit set deleted_at = clock_timestamp() where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'delete');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], u.lifecycle_status, 'deleted', v_actor.actor, v_actor.via, p_reason => p_reason);
end $$;

grant execute on function iu_core.fn_unit_delete(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;
