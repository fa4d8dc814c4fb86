-- What the log says of entries of steps, an event a row; the events of a loop's items are passed over. Ask for one execution.
-- retrying: an attempt failed and the next is to come. A loop's status is that of its fan-in: complete, partial or failed.
create or replace view noetl.v_execution_entry with (security_invoker = true) as
select e.execution_id, e.node_id, e.node_name, e.event_type,
       case when e.event_type = 'command.failed' and e.meta -> 'final' = 'false' then 'retrying'
            when e.event_type = 'loop.done' then
              case when (e.result #>> '{context,failed}')::bigint = 0 then 'complete'
                   when (e.result #>> '{context,completed}')::bigint = 0 then 'failed'
                   else 'partial' end
            else e.status end as status,
       (e.meta ->> 'attempt')::integer as attempt,
       e.meta ->> 'loop_id' as loop_id,
       case when e.event_type in ('command.completed', 'step.exit', 'loop.done')
              or (e.event_type = 'command.failed' and e.meta -> 'final' = 'true') then e.created_at end as ended_at,
       case when e.status = 'waiting' then e.meta end as waits_for,
       e.error, e.result, e.seq, e.event_id, e.parent_event_id, e.created_at
  from noetl.event e
 where e.node_id is not null
   and e.event_type not in ('loop.item', 'loop.shard.enqueued', 'loop.shard.done', 'loop.shard.failed', 'loop.fanin.completed')
   and (e.event_type not like 'command.%' or e.meta ->> 'loop_id' is null);

grant select on noetl.v_execution_entry to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
