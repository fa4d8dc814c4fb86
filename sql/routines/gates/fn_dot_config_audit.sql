-- Every change of a gate leaves a line, also one made by hand.
create or replace function iu_core.fn_dot_config_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.dot_config_audit (key, change, old_value, new_value, actor, reason)
  values (coalesce(new.key, old.key), lower(tg_op), old.value, new.value, iu_core.fn_actor(),
          nullif(current_setting('stagedoor.gate_reason', true), ''));
  return null;
end $$;

create or replace trigger dot_config_is_audited
  after insert or update or delete on iu_core.dot_config
  for each row execute function iu_core.fn_dot_config_audit();
-- Row triggers do not see TRUNCATE.
create or replace trigger dot_config_is_not_truncated
  before truncate on iu_core.dot_config
  for each statement execute function iu_core.fn_refuse_change();

create or replace trigger dot_config_audit_only_grows
  before update or delete on iu_core.dot_config_audit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger dot_config_audit_is_not_truncated
  before truncate on iu_core.dot_config_audit
  for each statement execute function iu_core.fn_refuse_change();
