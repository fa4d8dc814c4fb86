-- Tells the world that executions have ended, in the flush that ends them: references only. Written as whoever started the
-- execution, through the engine, and following from what it was started by, if that is still known. Internal.
create or replace function noetl.fn_execution_flush_outbox(p_outbox jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via,
    safe_payload)
  select n.id, 'dot', n.event_type, 'execution:' || n.execution_id, n.workspace_id, coalesce(n.correlation_id, cause.correlation_id, n.id),
         cause.id, coalesce(cause.causation_depth + 1, 0), coalesce(n.started_by, iu_core.fn_actor()),
         nullif(iu_core.fn_actor(), coalesce(n.started_by, iu_core.fn_actor())),
         jsonb_build_object('execution_id', n.execution_id::text, 'playbook', n.playbook, 'status', upper(split_part(n.event_type, '.', 2)))
    from (select iu_core.fn_time_uuid() as id, o.*
            from jsonb_to_recordset(p_outbox) as o (
              execution_id bigint, event_type text, workspace_id uuid, playbook text, started_by text, cause uuid,
              correlation_id uuid)
           where o.event_type in ('execution.completed', 'execution.failed', 'execution.cancelled') offset 0) n
    left join iu_core.event_outbox cause on cause.id = n.cause
$$;
