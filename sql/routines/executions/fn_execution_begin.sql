-- Puts the start of a new execution into its inbox. It follows from the event that the caller's job came from. Internal.
create or replace function noetl.fn_execution_begin(p_execution_id bigint, p_body jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cause record;
begin
  select * into v_cause from iu_core.fn_event_cause();
  perform noetl.fn_execution_tell(p_execution_id, 'start', p_body || jsonb_build_object(
    'started_by', iu_core.fn_actor(), 'cause', v_cause.event_id, 'correlation_id', v_cause.correlation_id, 'depth', 0, 'parent', null));
end $$;
