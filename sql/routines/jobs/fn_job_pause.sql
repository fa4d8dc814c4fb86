-- Nothing more of this kind is claimed until it is resumed; what runs goes on. Returns whether it was running before.
create or replace function iu_core.fn_job_pause(p_kind text, p_actor text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record := iu_core.fn_actor_for(p_actor);
begin
  update iu_core.job_kind set paused_at = clock_timestamp(), paused_by = v_actor.actor where job_kind = p_kind and paused_at is null;
  if found then
    return true;
  end if;
  perform iu_core.fn_job_kind_require(p_kind);
  return false;
end $$;

grant execute on function iu_core.fn_job_pause(text, text) to dot_executor, service_role;
