-- Every change of the policy of the projection leaves a line for each value, also one made by hand.
create or replace function iu_core.fn_vector_policy_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.dot_config_audit (key, change, old_value, new_value, actor, reason)
  select 'vector_policy.' || o.key, 'update', o.value, n.value, iu_core.fn_actor(),
         nullif(current_setting('stagedoor.policy_reason', true), '')
    from jsonb_each_text(to_jsonb(old)) as o
    join jsonb_each_text(to_jsonb(new)) as n on n.key = o.key
   where n.value is distinct from o.value
   order by o.key;
  return null;
end $$;

create or replace trigger vector_policy_is_audited
  after update on iu_core.vector_policy
  for each row execute function iu_core.fn_vector_policy_audit();
create or replace trigger vector_policy_is_not_deleted
  before delete on iu_core.vector_policy
  for each row execute function iu_core.fn_refuse_change();
