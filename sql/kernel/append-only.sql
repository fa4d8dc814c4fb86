-- Append-only tables: the trigger that refuses UPDATE, DELETE and TRUNCATE, also for the owner.

-- Trigger function of append-only tables. It refuses every change of a row, also by the owner.
create or replace function iu_core.fn_refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD002',
    message = format('%I.%I is append-only: %s is not allowed', tg_table_schema, tg_table_name, lower(tg_op)),
    detail = json_build_object('table', format('%I.%I', tg_table_schema, tg_table_name), 'operation', lower(tg_op))::text;
end $$;

-- Readers of the outbox rely on it: an event goes only with its whole partition.
create or replace trigger event_outbox_only_grows
  before update or delete on iu_core.event_outbox
  for each row execute function iu_core.fn_refuse_change();
-- Row triggers do not see TRUNCATE. Each partition has its own (fn_event_partitions_maintain).
create or replace trigger event_outbox_is_not_truncated
  before truncate on iu_core.event_outbox
  for each statement execute function iu_core.fn_refuse_change();

-- The log of executions is their only truth. Each partition has its own against TRUNCATE (fn_execution_partitions_maintain).
create or replace trigger event_only_grows
  before update or delete on noetl.event
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger event_is_not_truncated
  before truncate on noetl.event
  for each statement execute function iu_core.fn_refuse_change();
