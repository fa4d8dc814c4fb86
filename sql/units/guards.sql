-- Triggers that enforce the rules of units, also for the owner of the tables.

-- Checks a new unit, whoever inserts it: a live draft with its first version, a profile without core keys, and topics of the
-- vocabulary. Constraints check that the fifteen required fields are there and well formed.
create or replace function iu_core.fn_unit_create_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.lifecycle_status <> 'draft' or new.deleted_at is not null then
    raise exception using
      errcode = 'SD905',
      message = format('The unit %s does not exist yet and cannot become %s', new.unit_id,
                       case when new.deleted_at is null then new.lifecycle_status else 'deleted' end),
      detail = json_build_object('unit', new.unit_id, 'status', 'not created yet',
                                 'to', case when new.deleted_at is null then new.lifecycle_status else 'deleted' end)::text;
  end if;
  if new.version_no <> 1
     or not exists (select from iu_core.unit_version v
                     where v.unit_version_id = new.current_version_id
                       and (v.unit_id, v.version_no, v.content_hash, v.title, v.unit_kind)
                         = (new.unit_id, 1, new.content_hash, new.title, new.unit_kind)) then
    raise exception using
      errcode = 'SD001',
      message = format('The unit %s must be created with its first version, which is written before it and has the same content', new.unit_id);
  end if;
  perform iu_core.fn_unit_profile_check(new.content_profile) where new.content_profile <> '{}';
  if new.content_profile ? 'topic_labels' then
    perform iu_core.fn_unit_topics_check(new.workspace_id, null, new.content_profile -> 'topic_labels');
  end if;
  return new;
end $$;

create or replace trigger information_unit_is_complete
  before insert on iu_core.information_unit
  for each row execute function iu_core.fn_unit_create_guard();

-- Checks every change of a unit, also by the owner: identity is permanent, locked content does not change, content changes only
-- with the next version, and the lifecycle has these transitions:
--   draft → enacted → superseded | retired · draft → retired; deleted_at is independent
-- A deleted unit can only be restored. A change of kind needs its own apr_ref.
create or replace function iu_core.fn_unit_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changes_status boolean := new.lifecycle_status is distinct from old.lifecycle_status;
  v_changes_kind boolean := new.unit_kind is distinct from old.unit_kind;
  v_changes_profile boolean := new.content_profile is distinct from old.content_profile;
  v_field text;
begin
  v_field := case
    when new.unit_id is distinct from old.unit_id then 'unit_id'
    when new.workspace_id is distinct from old.workspace_id then 'workspace_id'
    when new.canonical_address is distinct from old.canonical_address then 'canonical_address'
    when new.source_ref is distinct from old.source_ref then 'source_ref'
    when new.owner_actor is distinct from old.owner_actor then 'owner_actor'
    when new.owner_via is distinct from old.owner_via then 'owner_via'
    when new.created_at is distinct from old.created_at then 'created_at'
    when new.supersedes is distinct from old.supersedes then 'supersedes'
    when new.superseded_by is distinct from old.superseded_by and not v_changes_status then 'superseded_by'
    when v_changes_kind and (new.apr_ref is null or new.apr_ref is not distinct from old.apr_ref) then 'unit_kind'
    when new.apr_ref is distinct from old.apr_ref and not v_changes_kind and not v_changes_status then 'apr_ref'
  end;
  if v_field is not null then
    raise exception using
      errcode = 'SD910',
      message = format('The %s of a unit cannot be changed', v_field),
      detail = json_build_object('field', v_field)::text;
  end if;

  if new.current_version_id is distinct from old.current_version_id or new.version_no is distinct from old.version_no
     or new.content_hash is distinct from old.content_hash or new.title is distinct from old.title then
    if old.lifecycle_status <> 'draft' or old.deleted_at is not null then
      perform iu_core.fn_unit_raise_locked(old);
    end if;
    if new.version_no is distinct from old.version_no + 1
       or not exists (select from iu_core.unit_version v
                       where v.unit_version_id = new.current_version_id
                         and (v.unit_id, v.version_no, v.content_hash, v.title)
                           = (new.unit_id, new.version_no, new.content_hash, new.title)) then
      raise exception using
        errcode = 'SD001',
        message = format('The content of the unit %s can change only together with its next version', new.unit_id);
    end if;
  end if;

  if v_changes_status
     and (old.deleted_at is not null
          or (old.lifecycle_status, new.lifecycle_status) not in (
               ('draft', 'enacted'), ('draft', 'retired'), ('enacted', 'superseded'), ('enacted', 'retired'))) then
    perform iu_core.fn_unit_raise_transition(old, new.lifecycle_status);
  end if;
  if old.deleted_at is not null and new.deleted_at is not null and old.deleted_at <> new.deleted_at then
    perform iu_core.fn_unit_raise_transition(old, 'deleted');
  end if;
  if (v_changes_kind or v_changes_profile)
     and (old.lifecycle_status not in ('draft', 'enacted') or old.deleted_at is not null) then
    perform iu_core.fn_unit_raise_locked(old);
  end if;
  perform iu_core.fn_unit_profile_check(new.content_profile) where v_changes_profile;
  if v_changes_profile and new.content_profile -> 'topic_labels' is distinct from old.content_profile -> 'topic_labels' then
    perform iu_core.fn_unit_topics_check(new.workspace_id, old.content_profile -> 'topic_labels', new.content_profile -> 'topic_labels');
  end if;
  new.changed_at := clock_timestamp();
  return new;
end $$;

create or replace trigger information_unit_is_guarded
  before update on iu_core.information_unit
  for each row execute function iu_core.fn_unit_guard();

-- Deleted units keep their row, so that they can come back and their address stays theirs.
create or replace trigger information_unit_is_not_deleted
  before delete on iu_core.information_unit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger information_unit_is_not_truncated
  before truncate on iu_core.information_unit
  for each statement execute function iu_core.fn_refuse_change();

-- Checks a new version, whoever writes it: its hash is computed, and its unit must be a draft for which this is the next
-- number. The first version is written before its unit; the foreign key requires the unit in the same transaction.
create or replace function iu_core.fn_unit_version_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_deleted_at timestamptz;
  v_version_no integer;
begin
  new.content_hash := encode(sha256(convert_to(new.body, 'UTF8')), 'hex');
  -- The lock excludes a concurrent enact or delete.
  select lifecycle_status, deleted_at, version_no into v_status, v_deleted_at, v_version_no
    from iu_core.information_unit where unit_id = new.unit_id for share;
  if v_status <> 'draft' or v_deleted_at is not null then
    perform iu_core.fn_unit_raise_locked(u) from iu_core.information_unit u where u.unit_id = new.unit_id;
  end if;
  if new.version_no is distinct from coalesce(v_version_no, 0) + 1 then
    raise exception using
      errcode = 'SD001',
      message = format('The next version of the unit %s is %s, not %s', new.unit_id, coalesce(v_version_no, 0) + 1, new.version_no);
  end if;
  return new;
end $$;

create or replace trigger unit_version_comes_in_order
  before insert on iu_core.unit_version
  for each row execute function iu_core.fn_unit_version_guard();

-- A version is for good.
create or replace trigger unit_version_only_grows
  before update or delete on iu_core.unit_version
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger unit_version_is_not_truncated
  before truncate on iu_core.unit_version
  for each statement execute function iu_core.fn_refuse_change();

-- At the end of the transaction: a new version must be the current version of its unit, or it would block the next one.
create or replace function iu_core.fn_unit_version_current_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.information_unit u where u.unit_id = new.unit_id and u.version_no >= new.version_no) then
    raise exception using
      errcode = 'SD001',
      message = format('Version %s of the unit %s is not its current version: write a version together with its unit', new.version_no, new.unit_id);
  end if;
  return null;
end $$;

drop trigger if exists unit_version_is_current on iu_core.unit_version;
create constraint trigger unit_version_is_current
  after insert on iu_core.unit_version
  deferrable initially deferred
  for each row when (new.version_no > 1)
  execute function iu_core.fn_unit_version_current_check();

-- At the end of the transaction: a unit whose lifecycle changed has a line in its history, whoever changed it, also the owner.
create or replace function iu_core.fn_unit_history_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to text := case when new.deleted_at is null then new.lifecycle_status else 'deleted' end;
begin
  if not exists (select from public.iu_lifecycle_log l
                  where l.unit_id = new.unit_id and l.to_status = v_to and l.changed_at >= transaction_timestamp()) then
    perform iu_core.fn_unit_raise_transition(old, v_to || ' without a line in its history');
  end if;
  return null;
end $$;

drop trigger if exists information_unit_has_its_history on iu_core.information_unit;
create constraint trigger information_unit_has_its_history
  after update on iu_core.information_unit
  deferrable initially deferred
  for each row when (old.lifecycle_status is distinct from new.lifecycle_status or old.deleted_at is distinct from new.deleted_at)
  execute function iu_core.fn_unit_history_check();

-- Checks the topics of a unit: distinct labels of the vocabulary, of its workspace or of all. A retired topic stays where it
-- is, but cannot be added. Internal: the triggers of information_unit call it, so that it holds for everybody.
create or replace function iu_core.fn_unit_topics_check(p_workspace_id uuid, p_old jsonb, p_new jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text[];
begin
  if p_new is null then
    return;
  end if;
  if jsonb_typeof(p_new) <> 'array' or p_new @? '$[*] ? (@.type() != "string")' then
    raise exception using errcode = 'SD001', message = 'topic_labels must be a JSON array of strings';
  end if;
  v_unknown := array(
    select n.label from jsonb_array_elements_text(p_new) with ordinality as n (label, position)
     where not coalesce(p_old ? n.label, false)
       and not exists (select from iu_core.topic_vocabulary t
                        where t.topic_label = n.label and t.retired_at is null
                          and (t.workspace_id = p_workspace_id or t.workspace_id is null))
     order by n.position limit 20);
  if v_unknown <> '{}' then
    raise exception using
      errcode = 'SD907',
      message = 'Not in the topic vocabulary, or retired: ' || array_to_string(v_unknown, ', '),
      detail = json_build_object('topics', array_to_string(v_unknown, ', '))::text;
  end if;
  if (select count(distinct label) <> count(*) from jsonb_array_elements_text(p_new) label) then
    raise exception using errcode = 'SD001', message = 'topic_labels contains a topic twice';
  end if;
end $$;
