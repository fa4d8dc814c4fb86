-- Takes a target away; what was not delivered to it yet dies as a dead letter.
create or replace function iu_core.fn_webhook_target_remove(p_target_code text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_webhook_target_workspace(p_target_code), 'administer');
  delete from iu_core.webhook_target where target_code = p_target_code;
end $$;

grant execute on function iu_core.fn_webhook_target_remove(text) to service_role, stagedoor_reviewer;
