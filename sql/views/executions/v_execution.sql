-- Executions for people: beside their playbook, how long they take, how far their loops are. Those that were started and
-- not folded yet are PENDING: an inbox row until an engine picks it up, then for a moment a log without a projection.
create or replace view noetl.v_execution with (security_invoker = true) as
select x.execution_id, c.path as playbook, c.version, x.catalog_id, x.parent_execution_id, x.workspace_id, x.started_by,
       x.status, x.last_event_type, x.last_node_name, x.start_time, x.end_time,
       coalesce(x.end_time, clock_timestamp()) - x.start_time as duration,
       x.error, x.state, loops.total as items, loops.done as items_done, loops.failed as items_failed,
       x.last_event_id, x.last_seq, x.created_at, x.updated_at
  from noetl.execution x
  left join noetl.catalog c on c.catalog_id = x.catalog_id
 cross join lateral (
   select sum((l.value ->> 'total')::bigint) as total, sum((l.value ->> 'done')::bigint) as done,
          sum((l.value ->> 'failed')::bigint) as failed
     from jsonb_each(x.state -> 'loop') as l) as loops
union all
select s.execution_id, c.path, c.version, s.catalog_id, s.parent_execution_id, s.workspace_id, s.started_by,
       'PENDING', null, null, null, null, null, null, '{}', null, null, null, null, 0, s.created_at, s.created_at
  from (select i.execution_id, (i.body ->> 'catalog_id')::bigint as catalog_id,
               (i.body -> 'parent' ->> 'execution_id')::bigint as parent_execution_id,
               (i.body ->> 'workspace_id')::uuid as workspace_id, i.body ->> 'started_by' as started_by, i.sent_at as created_at
          from noetl.inbox i where i.kind = 'start'
        union all
        select k.execution_id, e.catalog_id, e.parent_execution_id, (e.meta ->> 'workspace_id')::uuid,
               e.meta ->> 'started_by', e.created_at
          from noetl.checkpoint k
          join noetl.event e on e.execution_id = k.execution_id and e.seq = 1) as s
  left join noetl.catalog c on c.catalog_id = s.catalog_id
 where not exists (select from noetl.execution x where x.execution_id = s.execution_id);

grant select on noetl.v_execution to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
