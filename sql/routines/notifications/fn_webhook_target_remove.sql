-- Takes a target away; what was not delivered to it yet dies as a dead letter.
create or replace function iu_core.fn_webhook_target_remove(p_target_code text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_webhook_target_workspace(p_target_code), 'administer');
  delete from iu_core.webhook_target where target_code = p_target_code;
  if not found then
    raise exception using
      errcode = 'SD335',
      message = format('There is no webhook target %s', coalesce(p_target_code, 'NULL')),
      detail = json_build_object('target', p_target_code)::text;
  end if;
end $$;

grant execute on function iu_core.fn_webhook_target_remove(text) to service_role, stagedoor_reviewer;
