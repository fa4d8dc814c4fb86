-- The net below the trigger: a row that outlived its transaction (triggers were off) is removed.
create or replace function iu_core.fn_gate_override_sweep() returns bigint
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  with swept as (
    delete from iu_core.dot_config_override
     where pg_visible_in_snapshot(tx, pg_current_snapshot()) and tx <> pg_current_xact_id()
    returning 1
  )
  select count(*) from swept
$$;

grant execute on function iu_core.fn_gate_override_sweep() to dot_executor;
