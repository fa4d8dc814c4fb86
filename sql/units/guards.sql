-- What triggers refuse, for the tables' owner, too.

-- Before a unit is born, by whomever: it comes as a draft, alive, with its first version, a profile without core keys, and topics of
-- the vocabulary. That
-- the fifteen fields are there and well formed is in the constraints.
create or replace function iu_core.fn_unit_birth_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.lifecycle_status <> 'draft' or new.deleted_at is not null then
    raise exception using
      errcode = 'SD905',
      message = format('The unit %s is not born yet and cannot become %s', new.unit_id,
                       case when new.deleted_at is null then new.lifecycle_status else 'deleted' end),
      detail = json_build_object('unit', new.unit_id, 'status', 'not born yet',
                                 'to', case when new.deleted_at is null then new.lifecycle_status else 'deleted' end)::text;
  end if;
  if new.version_no <> 1
     or not exists (select from iu_core.unit_version v
                     where v.unit_version_id = new.current_version_id
                       and (v.unit_id, v.version_no, v.content_hash, v.title, v.unit_kind)
                         = (new.unit_id, 1, new.content_hash, new.title, new.unit_kind)) then
    raise exception using
      errcode = 'SD001',
      message = format('The unit %s is born with its first version, which is written before it and says the same', new.unit_id);
  end if;
  perform iu_core.fn_unit_profile_check(new.content_profile) where new.content_profile <> '{}';
  if new.content_profile ? 'topic_labels' then
    perform iu_core.fn_unit_topics_check(new.workspace_id, null, new.content_profile -> 'topic_labels');
  end if;
  return new;
end $$;

create or replace trigger information_unit_is_born_whole
  before insert on iu_core.information_unit
  for each row execute function iu_core.fn_unit_birth_guard();

-- Before a unit changes, by whomever, the owner, too: identity is for good, locked content stays, content changes only with the
-- next version, and the lifecycle goes its way.
--   draft → enacted → superseded | retired · draft → retired; deleted_at is beside it
-- What is deleted only comes back. A kind changes with an apr_ref of its own.
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
    when new.born_at is distinct from old.born_at then 'born_at'
    when new.supersedes is distinct from old.supersedes then 'supersedes'
    when new.superseded_by is distinct from old.superseded_by and not v_changes_status then 'superseded_by'
    when v_changes_kind and (new.apr_ref is null or new.apr_ref is not distinct from old.apr_ref) then 'unit_kind'
    when new.apr_ref is distinct from old.apr_ref and not v_changes_kind and not v_changes_status then 'apr_ref'
  end;
  if v_field is not null then
    raise exception using
      errcode = 'SD910',
      message = format('The %s of a unit does not change', v_field),
      detail = json_build_object('field', v_field)::text;
  end if;

  if new.current_version_id is distinct from old.current_version_id or new.version_no is distinct from old.version_no
     or new.content_hash is distinct from old.content_hash or new.title is distinct from old.title then
    if old.lifecycle_status <> 'draft' or old.deleted_at is not null then
      perform iu_core.fn_unit_refuse_locked(old);
    end if;
    if new.version_no is distinct from old.version_no + 1
       or not exists (select from iu_core.unit_version v
                       where v.unit_version_id = new.current_version_id
                         and (v.unit_id, v.version_no, v.content_hash, v.title)
                           = (new.unit_id, new.version_no, new.content_hash, new.title)) then
      raise exception using
        errcode = 'SD001',
        message = format('The content of the unit %s changes only with its next version, which says the same', new.unit_id);
    end if;
  end if;

  if v_changes_status
     and (old.deleted_at is not null
          or (old.lifecycle_status, new.lifecycle_status) not in (
               ('draft', 'enacted'), ('draft', 'retired'), ('enacted', 'superseded'), ('enacted', 'retired'))) then
    perform iu_core.fn_unit_refuse_transition(old, new.lifecycle_status);
  end if;
  if old.deleted_at is not null and new.deleted_at is not null and old.deleted_at <> new.deleted_at then
    perform iu_core.fn_unit_refuse_transition(old, 'deleted');
  end if;
  if (v_changes_kind or v_changes_profile)
     and (old.lifecycle_status not in ('draft', 'enacted') or old.deleted_at is not null) then
    perform iu_core.fn_unit_refuse_locked(old);
  end if;
  perform iu_core.fn_unit_profile_check(new.content_profile) where v_changes_profile;
  if v_changes_profile and new.content_profile -> 'topic_labels' is distinct from old.content_profile -> 'topic_labels' then
    perform iu_core.fn_unit_topics_check(new.workspace_id, old.content_profile -> 'topic_labels', new.content_profile -> 'topic_labels');
  end if;
  new.changed_at := clock_timestamp();
  return new;
end $$;

create or replace trigger information_unit_keeps_its_word
  before update on iu_core.information_unit
  for each row execute function iu_core.fn_unit_guard();

-- Deleted units keep their row, so that they can come back and their address stays theirs.
create or replace trigger information_unit_is_not_deleted
  before delete on iu_core.information_unit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger information_unit_is_not_truncated
  before truncate on iu_core.information_unit
  for each statement execute function iu_core.fn_refuse_change();

-- Before a version is written, by whomever: its hash is computed, and its unit must be a draft that waits for exactly this number.
-- A unit that is not there yet gets its first version; the foreign key holds it to being born in the same transaction.
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
  -- Shared with nobody who enacts or deletes it at this moment.
  select lifecycle_status, deleted_at, version_no into v_status, v_deleted_at, v_version_no
    from iu_core.information_unit where unit_id = new.unit_id for share;
  if v_status <> 'draft' or v_deleted_at is not null then
    perform iu_core.fn_unit_refuse_locked(u) from iu_core.information_unit u where u.unit_id = new.unit_id;
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

-- At the end of the transaction: a version that its unit did not take as its current one would stand in the way of the next.
create or replace function iu_core.fn_unit_version_taken() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.information_unit u where u.unit_id = new.unit_id and u.version_no >= new.version_no) then
    raise exception using
      errcode = 'SD001',
      message = format('Version %s of the unit %s is not its current one: a version is written with its unit', new.version_no, new.unit_id);
  end if;
  return null;
end $$;

drop trigger if exists unit_version_is_taken on iu_core.unit_version;
create constraint trigger unit_version_is_taken
  after insert on iu_core.unit_version
  deferrable initially deferred
  for each row when (new.version_no > 1)
  execute function iu_core.fn_unit_version_taken();

-- At the end of the transaction: a unit whose life changed has a line of it in its history, whoever changed it, the owner, too.
create or replace function iu_core.fn_unit_history_kept() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to text := case when new.deleted_at is null then new.lifecycle_status else 'deleted' end;
begin
  if not exists (select from public.iu_lifecycle_log l
                  where l.unit_id = new.unit_id and l.to_status = v_to and l.changed_at >= transaction_timestamp()) then
    perform iu_core.fn_unit_refuse_transition(old, v_to || ' without a line in its history');
  end if;
  return null;
end $$;

drop trigger if exists information_unit_has_its_history on iu_core.information_unit;
create constraint trigger information_unit_has_its_history
  after update on iu_core.information_unit
  deferrable initially deferred
  for each row when (old.lifecycle_status is distinct from new.lifecycle_status or old.deleted_at is distinct from new.deleted_at)
  execute function iu_core.fn_unit_history_kept();

-- The topics that a unit shall have: a list of distinct labels of the vocabulary, its workspace's or everybody's. One that was
-- retired stays where it is, but is not given any more. Internal: the triggers of information_unit call it, so that it holds
-- for everybody.
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
    raise exception using errcode = 'SD001', message = 'topic_labels is a JSON array of strings';
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
    raise exception using errcode = 'SD001', message = 'topic_labels names a topic twice';
  end if;
end $$;
