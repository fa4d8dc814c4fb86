-- Removes an override just before its transaction commits.
create or replace function iu_core.fn_gate_override_end() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.dot_config_override where key = new.key and tx = new.tx;
  return null;
end $$;

drop trigger if exists dot_config_override_ends_with_transaction on iu_core.dot_config_override;
create constraint trigger dot_config_override_ends_with_transaction
  after insert on iu_core.dot_config_override
  deferrable initially deferred
  for each row execute function iu_core.fn_gate_override_end();
