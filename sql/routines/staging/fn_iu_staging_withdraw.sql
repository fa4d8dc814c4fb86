-- The owner takes back what nobody has decided yet: pending → rejected, reason withdrawn.
create or replace function iu_core.fn_iu_staging_withdraw(p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if exists (select from iu_core.iu_staging_record
              where staging_record_id = p_staging_record_id and owner_actor <> iu_core.fn_actor()) then
    raise exception using
      errcode = 'SD511',
      message = format('Record %s belongs to somebody else; only its owner withdraws it', p_staging_record_id),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  perform iu_core.fn_iu_staging_end(p_staging_record_id, iu_core.fn_actor(), 'withdrawn');
end $$;

grant execute on function iu_core.fn_iu_staging_withdraw(uuid) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
