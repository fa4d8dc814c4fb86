-- Jobs of this kind are claimed again. Returns whether it was paused before.
create or replace function iu_core.fn_job_resume(p_kind text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.job_kind set paused_at = null, paused_by = null where job_kind = p_kind and paused_at is not null;
  if found then
    perform pg_notify('stagedoor_jobs', p_kind);
    return true;
  end if;
  perform iu_core.fn_job_kind_require(p_kind);
  return false;
end $$;

grant execute on function iu_core.fn_job_resume(text) to dot_executor, service_role;
