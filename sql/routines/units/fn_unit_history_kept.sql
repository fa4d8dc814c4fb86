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
