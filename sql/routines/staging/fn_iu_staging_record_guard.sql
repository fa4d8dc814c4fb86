-- The lifecycle, for everybody and the owner, too: which status may follow which, what never changes, and that no
-- stamp is ever erased.
--   pending → approved → consumed → cleaned
--   pending → consumed (where the kind needs no approval) · pending → rejected · pending, approved → expired
create or replace function iu_core.fn_iu_staging_record_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (old.lifecycle_status, new.lifecycle_status) not in (
       ('pending', 'approved'), ('pending', 'rejected'), ('pending', 'expired'), ('pending', 'consumed'),
       ('approved', 'consumed'), ('approved', 'expired'),
       ('consumed', 'cleaned'), ('rejected', 'cleaned'), ('expired', 'cleaned')) then
    raise exception using errcode = 'SD502',
      message = format('A staging record does not go from %s to %s', old.lifecycle_status, new.lifecycle_status);
  end if;
  if (old.staging_record_id, old.workspace_id, old.staging_kind, old.payload_type, old.purpose, old.owner_actor, old.owner_via,
      old.source_kind, old.source_ref, old.idempotency_key, old.content_hash, old.byte_len, old.part_count, old.part_digests,
      old.metadata, old.referenced_iu_ids, old.approval_required, old.four_eyes, old.checklist_required, old.created_at,
      old.expires_at)
     is distinct from
     (new.staging_record_id, new.workspace_id, new.staging_kind, new.payload_type, new.purpose, new.owner_actor, new.owner_via,
      new.source_kind, new.source_ref, new.idempotency_key, new.content_hash, new.byte_len, new.part_count, new.part_digests,
      new.metadata, new.referenced_iu_ids, new.approval_required, new.four_eyes, new.checklist_required, new.created_at,
      new.expires_at) then
    raise exception using errcode = 'SD002', message = 'What was staged does not change; stage a new record';
  end if;
  if (old.approved_at is not null and (old.approved_at, old.approved_by, old.approved_via, old.approval_doc_id)
        is distinct from (new.approved_at, new.approved_by, new.approved_via, new.approval_doc_id))
     or (old.rejected_at is not null and (old.rejected_at, old.rejected_by, old.rejected_reason)
        is distinct from (new.rejected_at, new.rejected_by, new.rejected_reason))
     or (old.consumed_at is not null and (old.consumed_at, old.consumed_by_run_id)
        is distinct from (new.consumed_at, new.consumed_by_run_id))
     or (old.expired_at is not null and old.expired_at is distinct from new.expired_at)
     or (old.retain_until is not null and old.retain_until is distinct from new.retain_until) then
    raise exception using errcode = 'SD002', message = 'The stamps of a decision are never changed or erased';
  end if;
  return new;
end $$;

create or replace trigger iu_staging_record_keeps_its_lifecycle
  before update on iu_core.iu_staging_record
  for each row execute function iu_core.fn_iu_staging_record_guard();

-- Bytes never change. They are deleted with their record's end only, by cleanup and unregister.
create or replace trigger iu_staging_payload_never_changes
  before update on iu_core.iu_staging_payload
  for each row execute function iu_core.fn_refuse_change();
