-- Whether a wait of this execution was woken by the event before: those that look back do not hear it again. Internal.
create or replace function noetl.fn_wait_has_heard(p_execution_id bigint, p_event_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.wait_heard h where h.execution_id = p_execution_id and h.event_id = p_event_id)
$$;
