-- The fold of the log: what noetl.execution is after the events that follow its row, or from nothing where p_anew. The one
-- fold: the projection, its rebuild and its verification call it. Answers only executions that have such events.
-- Each part depends on the events alone and on their order, so any cut of the log into batches gives the same row.
--   status   the first event that ends an execution decides, for good; before, the latest of paused and resumed
--   error    that of the event that ended it: a failed attempt that was tried again is no failure of the execution
--   state    loop.<step> and fanout.<step> of the step's latest loop_id, counted from events after its beginning
-- Events behind a gap in seq wait for what is missing. p_until: the last seq for each of p_executions, or all there are.
--
-- Internal. The settings: the planner knows neither how few executions are asked for nor how many events they have. Rows
-- of tables are looked up by index, which the laterals say (offset 0 keeps them apart), and what was looked up is joined by
-- hash (measured without: 200,000 events of 100 executions 4 s, with: 0.8 s).
create or replace function noetl.fn_execution_fold(
  p_executions bigint[], p_anew boolean default false, p_until integer[] default null
) returns setof noetl.execution
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set work_mem = '64MB'
set jit = off
as $$
begin
  return query
  with base as (
    select asked.execution_id, coalesce(asked.until, 2147483647) as until, coalesce(x.last_seq, 0) as folded_seq,
           coalesce(x.state, '{}') as state, x.catalog_id, x.parent_execution_id, x.workspace_id, x.started_by, x.status,
           x.start_time, x.end_time, x.error, x.created_at
      from unnest(p_executions, p_until) as asked (execution_id, until)
      left join lateral (select * from noetl.execution x where x.execution_id = asked.execution_id and not p_anew offset 0) x on true
  ), log as materialized (
    select b.execution_id, e.*
      from base b
     cross join lateral (
       select e.seq, e.event_type, e.node_name, e.meta ->> 'loop_id' as loop_id,
              e.event_type = 'command.failed' and e.meta -> 'final' = 'true' as gave_up
         from noetl.event e
        where e.execution_id = b.execution_id and e.seq > b.folded_seq and e.seq <= b.until
       offset 0) as e
  ), run as materialized (
    -- Without a gap there are as many events as the numbers say.
    select b.*, g.last_seq
      from (select l.execution_id, count(*) as events, max(l.seq) as last_seq from log l group by l.execution_id) as l
      join base b on b.execution_id = l.execution_id
     cross join lateral (
       select case when l.events = l.last_seq - b.folded_seq then l.last_seq
                   else b.folded_seq + (select count(*)::integer
                                          from (select m.seq - row_number() over (order by m.seq) as before
                                                  from log m where m.execution_id = b.execution_id) as m
                                         where m.before = b.folded_seq) end) as g (last_seq)
     where g.last_seq > b.folded_seq
  ), course as (
    select l.execution_id,
           min(l.seq) filter (where l.event_type like '%.initialized') as began,
           min(l.seq) filter (where l.event_type not in ('playbook.initialized', 'workflow.initialized', 'execution.paused',
                                                         'execution.resumed')) as ended,
           coalesce(max(l.seq) filter (where l.event_type = 'execution.paused'), 0) as paused,
           coalesce(max(l.seq) filter (where l.event_type = 'execution.resumed'), 0) as resumed
      from log l
      join run r on r.execution_id = l.execution_id and l.seq <= r.last_seq
     where l.event_type in ('playbook.initialized', 'playbook.completed', 'playbook.failed', 'workflow.initialized',
                            'workflow.completed', 'workflow.failed', 'execution.cancelled', 'execution.paused', 'execution.resumed')
     group by l.execution_id
  ), begun as (
    select distinct on (l.execution_id, l.event_type, l.node_name)
           l.execution_id, case l.event_type when 'loop.started' then 'loop' else 'fanout' end as kind,
           l.node_name, l.loop_id, l.seq, r.last_seq
      from log l
      join run r on r.execution_id = l.execution_id and l.seq <= r.last_seq
     where l.event_type in ('loop.started', 'loop.fanout.started') and l.node_name is not null
     order by l.execution_id, l.event_type, l.node_name, l.seq desc
  ), entry as materialized (
    select n.execution_id, n.kind, n.node_name, n.loop_id, n.seq as since, n.last_seq, true as is_new,
           case n.kind when 'loop' then jsonb_build_object(
             'loop_id', n.loop_id, 'total', e.meta -> 'collection_size', 'done', 0, 'failed', 0,
             'collection_ref', e.context ->> 'collection_ref', 'mode', coalesce(e.meta ->> 'mode', 'sequential'),
             'completed', false)
           else jsonb_build_object(
             'loop_id', n.loop_id, 'total_shards', e.meta -> 'total_shards', 'done', 0, 'failed', 0, 'status', 'running')
           end as body
      from begun n
     cross join lateral (select * from noetl.event e where e.execution_id = n.execution_id and e.seq = n.seq offset 0) as e
    union all
    select r.execution_id, k.kind, old.node_name, old.body ->> 'loop_id', 0, r.last_seq, false, old.body
      from run r
     cross join unnest(array['loop', 'fanout']) as k (kind)
     cross join lateral jsonb_each(r.state -> k.kind) as old (node_name, body)
     where not exists (select from begun n
                        where n.execution_id = r.execution_id and n.kind = k.kind and n.node_name = old.node_name)
  ), counted as (
    -- An attempt's end counts where items are commands, a shard's where they are shards; the other kind is of no loop here.
    select n.execution_id, n.kind, n.node_name,
           count(*) filter (where l.event_type = case when s.sharded then 'loop.shard.done' else 'command.completed' end) as done,
           count(*) filter (where case when s.sharded then l.event_type = 'loop.shard.failed' else l.gave_up end) as failed,
           bool_or(l.event_type = 'loop.done') as completed,
           max(l.seq) filter (where l.event_type = case n.kind when 'loop' then 'loop.done' else 'loop.fanin.completed' end) as ended
      from log l
      join entry n on n.execution_id = l.execution_id and n.node_name = l.node_name and n.loop_id = l.loop_id
                  and l.seq > n.since and l.seq <= n.last_seq
     cross join lateral (select n.kind = 'fanout' or n.body ->> 'mode' = 'fanout') as s (sharded)
     where l.event_type in ('command.completed', 'command.failed', 'loop.shard.done', 'loop.shard.failed',
                            'loop.done', 'loop.fanin.completed')
     group by n.execution_id, n.kind, n.node_name
  ), changed as (
    select n.execution_id, n.kind,
           coalesce(r.state -> n.kind, '{}') || jsonb_object_agg(n.node_name, n.body || jsonb_build_object(
             'done', (n.body ->> 'done')::bigint + coalesce(c.done, 0),
             -- The end of a loop says how many failed, with those that were cancelled before they were handed out.
             'failed', coalesce((f.result #>> '{context,failed}')::bigint, (n.body ->> 'failed')::bigint + coalesce(c.failed, 0))) ||
             case n.kind when 'loop'
               then jsonb_build_object('completed', (n.body ->> 'completed')::boolean or coalesce(c.completed, false))
               else jsonb_build_object('status', coalesce(f.result ->> 'status', f.status, n.body ->> 'status')) end) as entries
      from entry n
      join run r on r.execution_id = n.execution_id
      left join counted c on c.execution_id = n.execution_id and c.kind = n.kind and c.node_name = n.node_name
      left join lateral (select f.result, f.status from noetl.event f
                          where f.execution_id = n.execution_id and f.seq = c.ended offset 0) as f on true
     where n.is_new or c.execution_id is not null
     group by n.execution_id, n.kind, r.state
  )
  select r.execution_id,
         coalesce(r.catalog_id, first.catalog_id),
         case when r.folded_seq = 0 then first.parent_execution_id else r.parent_execution_id end,
         case when r.start_time is null then (began.meta ->> 'workspace_id')::uuid else r.workspace_id end,
         case when r.start_time is null then began.meta ->> 'started_by' else r.started_by end,
         case when r.end_time is not null then r.status
              when ended.event_type like '%.completed' then 'COMPLETED'
              when ended.event_type like '%.failed' then 'FAILED'
              when ended.event_type is not null then 'CANCELLED'
              when c.paused > c.resumed then 'PAUSED'
              when c.resumed > c.paused then 'RUNNING'
              else coalesce(r.status, 'RUNNING') end,
         last.event_type, last.node_name, last.event_id, r.last_seq,
         coalesce(r.start_time, began.created_at),
         coalesce(r.end_time, ended.created_at),
         case when r.end_time is null then ended.error else r.error end,
         r.state || coalesce(g.state, '{}'),
         coalesce(r.created_at, first.created_at),
         last.created_at
    from run r
    left join course c on c.execution_id = r.execution_id
    left join (select h.execution_id, jsonb_object_agg(h.kind, h.entries) as state from changed h group by h.execution_id) as g
      on g.execution_id = r.execution_id
   cross join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = 1 offset 0) as first
   cross join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = r.last_seq offset 0) as last
    left join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = c.began offset 0) as began on true
    left join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = c.ended offset 0) as ended on true;
end $$;
