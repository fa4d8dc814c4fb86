-- How far the loops of an execution are, from the log: the numbers of the seed's recovery and fan-in queries, right for all modes
-- (sequential, parallel, fanout). An item counts as done or failed by its last event, not by its attempts; after the end of a
-- loop `failed` includes what was cancelled, so that done + failed = total. current_index: the last item that was handed out, -1
-- before the first. The caller sees what the policies of noetl.event let them see.
create or replace function noetl.fn_loop_progress(p_execution_id bigint, p_loop_id text default null)
returns table (
  loop_id text, node_name text, node_id text, mode text, total integer, current_index integer, issued bigint, done bigint, failed bigint,
  cancelled bigint, open bigint, collection_ref text, status text
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.meta ->> 'loop_id', s.node_name, s.node_id, coalesce(s.meta ->> 'mode', 'sequential'), (s.meta ->> 'collection_size')::integer,
         n.current_index, n.issued, n.done,
         coalesce((f.result #>> '{context,failed}')::bigint, n.failed),
         coalesce((f.result #>> '{context,cancelled}')::bigint, 0),
         case when f.seq is null then n.issued - n.done - n.failed else 0 end,
         s.context ->> 'collection_ref',
         case when f.seq is null then 'running'
              when coalesce((f.result #>> '{context,failed}')::bigint, n.failed) = 0 then 'complete'
              when n.done = 0 then 'failed' else 'partial' end
    from noetl.event s
   cross join lateral (
     select coalesce(max(e.current_index) filter (where e.event_type in ('loop.item', 'loop.shard.enqueued')), -1) as current_index,
            count(*) filter (where e.event_type in ('loop.item', 'loop.shard.enqueued')) as issued,
            count(*) filter (where e.event_type in ('command.completed', 'loop.shard.done')) as done,
            count(*) filter (where e.event_type = 'loop.shard.failed'
                                or e.event_type = 'command.failed' and e.meta -> 'final' = 'true') as failed
       from noetl.event e
      where e.execution_id = s.execution_id and e.meta ->> 'loop_id' = s.meta ->> 'loop_id') as n
    left join lateral (
      select e.seq, e.result from noetl.event e
       where e.execution_id = s.execution_id and e.meta ->> 'loop_id' = s.meta ->> 'loop_id' and e.event_type = 'loop.done') as f on true
   where s.execution_id = p_execution_id and s.event_type = 'loop.started' and s.meta ->> 'loop_id' is not null
     and (p_loop_id is null or s.meta ->> 'loop_id' = p_loop_id)
   order by s.seq
$$;

grant execute on function noetl.fn_loop_progress(bigint, text) to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
