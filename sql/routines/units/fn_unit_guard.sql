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
