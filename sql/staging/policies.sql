-- Policies of staging kinds: approval, checklist, time to live and retention.

-- Changes the policy of a kind for new records; existing records keep theirs. Administrators only. Audited
-- (fn_iu_staging_kind_policy_audit).
create or replace function iu_core.fn_iu_staging_set_policy(p_staging_kind text, p_changes jsonb, p_reason text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old iu_core.iu_staging_kind_policy;
  v_new iu_core.iu_staging_kind_policy;
  v_unknown text;
begin
  if jsonb_typeof(p_changes) is distinct from 'object' or p_changes = '{}' then
    raise exception using errcode = 'SD001', message = 'The changes must be a JSON object with at least one setting';
  end if;
  if p_reason is null or p_reason !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A policy change needs a reason';
  end if;
  select key into v_unknown from jsonb_object_keys(p_changes) key
   where key not in ('four_eyes', 'checklist_required', 'time_to_live', 'retention') limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'SD001',
      message = format('%L cannot be changed; four_eyes, checklist_required, time_to_live and retention can', v_unknown);
  end if;
  select * into v_old from iu_core.iu_staging_kind_policy where staging_kind = p_staging_kind for update;
  if not found then
    raise exception using errcode = 'SD507', message = format('There is no staging kind %L', p_staging_kind);
  end if;
  -- jsonb_populate_record sets what is named, a JSON null too, which the columns refuse.
  v_new := jsonb_populate_record(v_old, p_changes);
  perform set_config('stagedoor.policy_reason', p_reason, true);
  update iu_core.iu_staging_kind_policy
     set four_eyes = v_new.four_eyes, checklist_required = v_new.checklist_required,
         time_to_live = v_new.time_to_live, retention = v_new.retention
   where staging_kind = p_staging_kind;
  perform set_config('stagedoor.policy_reason', '', true);
exception when data_exception or check_violation or not_null_violation then
  raise exception using errcode = 'SD001', message = format('The policy cannot be set: %s', sqlerrm),
    hint = 'four_eyes and checklist_required are true or false; time_to_live (a minute or more) and retention are '
           'intervals such as "14 days".';
end $$;

-- Writes an audit row for every change of a kind's policy, also for a change by hand.
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

-- The policy of a kind. Raises if the kind does not exist or does not take the payload type.
create or replace function iu_core.fn_iu_staging_policy(p_staging_kind text, p_payload_type text)
returns iu_core.iu_staging_kind_policy
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy iu_core.iu_staging_kind_policy;
begin
  select p.* into v_policy
    from iu_core.iu_staging_kind_policy p
    join iu_core.iu_staging_kind_type t on t.staging_kind = p.staging_kind
   where p.staging_kind = p_staging_kind and t.payload_type = p_payload_type;
  if found then
    return v_policy;
  end if;
  if not exists (select from iu_core.iu_staging_kind_policy where staging_kind = p_staging_kind) then
    raise exception using
      errcode = 'SD507',
      message = format('There is no staging kind %L', p_staging_kind),
      hint = 'The kinds: ' || (select string_agg(staging_kind, ', ' order by staging_kind) from iu_core.iu_staging_kind_policy);
  end if;
  raise exception using
    errcode = 'SD507',
    message = format('The staging kind %s does not take the payload type %L', p_staging_kind, p_payload_type),
    hint = (select format('It takes: %s', string_agg(t.payload_type, ', ' order by t.payload_type))
              from iu_core.iu_staging_kind_type t where t.staging_kind = p_staging_kind);
end $$;
