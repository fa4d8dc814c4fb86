-- The event that the running job came from, as its worker says in the transaction it gives to a handler: what is emitted
-- and enqueued there follows from it. A setting that anybody can set decides nothing but the trace and its depth.
-- An id that is not in the outbox (any more) is no cause.
create or replace function iu_core.fn_event_cause(out event_id uuid, out correlation_id uuid, out depth smallint, out workspace_id uuid)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cause text := nullif(current_setting('stagedoor.cause', true), '');
begin
  if v_cause is null or v_cause !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return;
  end if;
  select e.id, e.correlation_id, e.causation_depth, e.workspace_id into event_id, correlation_id, depth, workspace_id
    from iu_core.event_outbox e where e.id = v_cause::uuid;
end $$;
