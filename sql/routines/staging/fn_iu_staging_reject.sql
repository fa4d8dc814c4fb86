-- pending → rejected, with a reason.
create or replace function iu_core.fn_iu_staging_reject(p_staging_record_id uuid, p_reason text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if p_reason is null or p_reason !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A rejection needs a reason';
  end if;
  perform iu_core.fn_iu_staging_end(p_staging_record_id, iu_core.fn_actor(), p_reason);
end $$;

grant execute on function iu_core.fn_iu_staging_reject(uuid, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;
