-- A draft or an enacted unit is no longer used, and nothing takes its place. It stays readable, and locked.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_retire(p_unit_id uuid, p_reason text default null, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'review');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_transition(u, 'retired');
  end if;
  update iu_core.information_unit set lifecycle_status = 'retired' where unit_id = p_unit_id;
  perform iu_core.fn_vector_enqueue(array[p_unit_id], 'patch');
  perform iu_core.fn_unit_lifecycle_log(array[p_unit_id], u.lifecycle_status, 'retired', v_actor.actor, v_actor.via, p_reason => p_reason);
end $$;

grant execute on function iu_core.fn_unit_retire(uuid, text, text) to dot_executor, service_role, stagedoor_reviewer;
