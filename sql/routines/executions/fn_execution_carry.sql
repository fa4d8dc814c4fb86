-- What an execution stages may hold what it has read. A record that needs no approval of its own remembers it, for whoever reads
-- that one; a record that needs approval is approved with the text that it holds, whoever wrote it. Internal.
create or replace function iu_core.fn_execution_carry() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_execution bigint := iu_core.fn_execution_current();
begin
  if v_execution is not null and not new.approval_required then
    insert into iu_core.execution_carried_record (staging_record_id, carried_record_id)
    select new.staging_record_id, id from iu_core.fn_execution_unapproved(v_execution) as id;
  end if;
  return null;
end $$;

create or replace trigger iu_staging_record_carries
  after insert on iu_core.iu_staging_record
  for each row execute function iu_core.fn_execution_carry();
