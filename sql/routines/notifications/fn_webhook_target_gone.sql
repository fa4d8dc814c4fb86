-- The receiver said that it is gone for good (410): nothing is sent there any more until a person enables it again.
create or replace function iu_core.fn_webhook_target_gone(p_target_code text, p_reason text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.webhook_target
     set enabled = false, disabled_reason = left(p_reason, 500), changed_at = clock_timestamp()
   where target_code = p_target_code and enabled;
  return found;
end $$;

grant execute on function iu_core.fn_webhook_target_gone(text, text) to dot_executor;
