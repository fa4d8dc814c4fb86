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
