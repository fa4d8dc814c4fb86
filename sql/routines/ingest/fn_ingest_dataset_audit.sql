-- Every registration and change of a dataset leaves a line, also one made by hand.
create or replace function iu_core.fn_ingest_dataset_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_dataset_audit (dataset, old_row, new_row, actor)
  values (coalesce(new.dataset, old.dataset), to_jsonb(old), to_jsonb(new), iu_core.fn_actor());
  return null;
end $$;

create or replace trigger ingest_dataset_is_audited
  after insert or update or delete on iu_core.ingest_dataset
  for each row execute function iu_core.fn_ingest_dataset_audit();
create or replace trigger ingest_dataset_is_not_truncated
  before truncate on iu_core.ingest_dataset
  for each statement execute function iu_core.fn_refuse_change();
create or replace trigger ingest_dataset_audit_only_grows
  before update or delete on iu_core.ingest_dataset_audit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger ingest_dataset_audit_is_not_truncated
  before truncate on iu_core.ingest_dataset_audit
  for each statement execute function iu_core.fn_refuse_change();
