-- Every change of a kind's policy leaves a line, also one made by hand.
create or replace function iu_core.fn_iu_staging_kind_policy_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.iu_staging_kind_policy_audit (staging_kind, old_policy, new_policy, actor, reason)
  values (old.staging_kind, to_jsonb(old), to_jsonb(new), iu_core.fn_actor(),
          nullif(current_setting('stagedoor.policy_reason', true), ''));
  return null;
end $$;

create or replace trigger iu_staging_kind_policy_is_audited
  after update on iu_core.iu_staging_kind_policy
  for each row execute function iu_core.fn_iu_staging_kind_policy_audit();

create or replace trigger iu_staging_kind_policy_audit_only_grows
  before update or delete on iu_core.iu_staging_kind_policy_audit
  for each row execute function iu_core.fn_refuse_change();
-- Row triggers do not see TRUNCATE.
create or replace trigger iu_staging_kind_policy_audit_is_not_truncated
  before truncate on iu_core.iu_staging_kind_policy_audit
  for each statement execute function iu_core.fn_refuse_change();
