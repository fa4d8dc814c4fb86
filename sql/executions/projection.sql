-- The projection of the log into noetl.execution: update, comparison, rebuild.

-- Updates the projection of executions from their log, for the engine that owns their shards: rows, the shards' watermarks, and
-- the deletion of checkpoints that are no longer needed, in one transaction. events: how many were folded. lag_ms: the age of
-- the oldest of them.
--
-- A checkpoint is deleted only when the end of its execution is projected: until then it says that there is something to
-- project.
create or replace function noetl.fn_execution_project(
  p_engine uuid, p_shards smallint[], p_epochs bigint[], p_executions bigint[],
  out events bigint, out lag_ms integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_held integer;
begin
  select count(*) into v_held from (
    select from noetl.execution_shard s
      join unnest(p_shards, p_epochs) as mine (shard_id, epoch) on mine.shard_id = s.shard_id and mine.epoch = s.epoch
     where s.owner = p_engine
     order by s.shard_id
       for share of s) as held;
  if p_engine is null or v_held is distinct from cardinality(p_shards) then
    perform noetl.fn_engine_raise_lease_lost(p_engine);
  end if;
  if exists (select from unnest(p_executions) as x (id) where noetl.fn_shard_of(x.id) <> all (p_shards)) then
    raise exception using errcode = 'SD001', message = 'An execution belongs to none of the given shards';
  end if;
  -- One at a time for each shard, in one order; the rows are read after it, so that nothing is folded twice.
  perform from noetl.projection_checkpoint where shard_id = any (p_shards) order by shard_id for update;
  p_executions := array(select distinct id from unnest(p_executions) as x (id));

  with before as materialized (
    select execution_id, last_seq from noetl.execution where execution_id = any (p_executions)
  ), folded as materialized (
    select * from noetl.fn_execution_fold(p_executions)
  ), written as (
    insert into noetl.execution select * from folded
    on conflict (execution_id) do update
      set (status, last_event_type, last_node_name, last_event_id, last_seq, start_time, end_time, error, state, updated_at,
           workspace_id, started_by)
        = (excluded.status, excluded.last_event_type, excluded.last_node_name, excluded.last_event_id, excluded.last_seq,
           excluded.start_time, excluded.end_time, excluded.error, excluded.state, excluded.updated_at,
           excluded.workspace_id, excluded.started_by)
  ), step as (
    select noetl.fn_shard_of(f.execution_id) as shard_id, f.last_event_id, f.last_seq - coalesce(b.last_seq, 0) as events,
           oldest.created_at
      from folded f
      left join before b on b.execution_id = f.execution_id
     cross join lateral (select e.created_at from noetl.event e
                          where e.execution_id = f.execution_id and e.seq = coalesce(b.last_seq, 0) + 1 offset 0) as oldest
  ), shard as materialized (
    select s.shard_id, max(s.last_event_id) as last_event_id, sum(s.events) as events,
           least(2147483647, greatest(0, extract(epoch from clock_timestamp() - min(s.created_at)) * 1000))::integer as lag_ms
      from step s group by s.shard_id
  ), marked as (
    update noetl.projection_checkpoint p
       set last_projected_event_id = greatest(p.last_projected_event_id, s.last_event_id),
           last_projected_at = clock_timestamp(), lag_ms = s.lag_ms
      from shard s
     where p.shard_id = s.shard_id
  )
  select coalesce(sum(s.events), 0), coalesce(max(s.lag_ms), 0) into events, lag_ms from shard s;

  delete from noetl.checkpoint c
   where c.execution_id = any (p_executions) and c.ended
     and (select x.end_time is not null and x.last_seq >= c.last_seq
                 and not exists (select from noetl.event e where e.execution_id = c.execution_id and e.seq > x.last_seq)
            from noetl.execution x where x.execution_id = c.execution_id);
end $$;

grant execute on function noetl.fn_execution_project(uuid, smallint[], bigint[], bigint[]) to dot_executor;

-- The fold of the log: noetl.execution after the events that follow its row, or from the beginning with p_from_start. The only fold:
-- the projection, its rebuild and its comparison call it. Returns only executions that have such events. Each part depends only
-- on the events and their order, so any division of the log into batches gives the same row.
--   status   the first event that ends an execution decides; before, the latest of paused and resumed
--   error    that of the event that ended it: a failed attempt that was retried is not a failure of the execution
--   state    loop.<step> and fanout.<step> of the step's latest loop_id, counted from events after its beginning
-- Events after a gap in seq wait for the missing ones. p_until: the last seq for each of p_executions, or all.
--
-- Internal. The settings: the planner knows neither how few executions are asked for nor how many events they have. Rows of
-- tables are looked up by index, by the laterals (offset 0 keeps them apart), and the results are joined by hash (200,000
-- events of 100 executions: 4 s without, 0.8 s with).
create or replace function noetl.fn_execution_fold(
  p_executions bigint[], p_from_start boolean default false, p_until integer[] default null
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
      left join lateral (select * from noetl.execution x where x.execution_id = asked.execution_id and not p_from_start offset 0) x on true
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
    -- Without a gap the number of events equals the range of seq.
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
  ), lifecycle as (
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
    left join lifecycle c on c.execution_id = r.execution_id
    left join (select h.execution_id, jsonb_object_agg(h.kind, h.entries) as state from changed h group by h.execution_id) as g
      on g.execution_id = r.execution_id
   cross join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = 1 offset 0) as first
   cross join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = r.last_seq offset 0) as last
    left join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = c.began offset 0) as began on true
    left join lateral (select * from noetl.event e where e.execution_id = r.execution_id and e.seq = c.ended offset 0) as ended on true;
end $$;

-- Compares the projection with the log: at most p_limit executions after p_after, in order. A row is compared at its own
-- last_seq, so that events that are not projected yet are no difference while a checkpoint exists. Stable on purpose: rows and
-- log are read in the one snapshot of the caller's statement.
create or replace function noetl.fn_projection_differences(p_after bigint default 0, p_limit integer default 1000)
returns table (execution_id bigint, difference text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_page constant integer := 500;
  v_ids bigint[];
  v_found integer;
begin
  if p_after is null or p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'p_after must be an execution id (0: from the first), and p_limit at least 1';
  end if;
  loop
    -- Every execution that has a row, a log or both. By steps through the log's index, not through its events.
    v_ids := array(
      with recursive logged as (
        select (select min(e.execution_id) from noetl.event e where e.execution_id > p_after) as id, 1 as n
        union all
        select (select min(e.execution_id) from noetl.event e where e.execution_id > l.id), l.n + 1
          from logged l where l.id is not null and l.n < v_page)
      select id from (
        select l.id from logged l where l.id is not null
        union
        (select x.execution_id from noetl.execution x where x.execution_id > p_after order by 1 limit v_page)) as known
       order by id limit v_page);
    return query
      select d.id, d.difference from (
        select asked.id,
               case when x.execution_id is null then 'the log is not projected'
                    when f.execution_id is null then 'it has no log'
                    when x is distinct from f then concat_ws(', ', variadic array(
                      select n.key from jsonb_each(to_jsonb(x)) n join jsonb_each(to_jsonb(f)) m on m.key = n.key
                       where n.value is distinct from m.value order by n.key))
                    else 'its last events are not projected' end as difference
          from unnest(v_ids) as asked (id)
          left join noetl.execution x on x.execution_id = asked.id
          left join noetl.fn_execution_fold(
            v_ids, true, array(select y.last_seq from unnest(v_ids) with ordinality as i (id, n)
                                 left join noetl.execution y on y.execution_id = i.id order by i.n)) f on f.execution_id = asked.id
         where (x is distinct from f and x.execution_id is not null)
            or not exists (select from noetl.checkpoint c where c.execution_id = asked.id)
               and (x.execution_id is null
                    or exists (select from noetl.event e where e.execution_id = asked.id and e.seq > x.last_seq))) as d
       order by d.id limit p_limit;
    get diagnostics v_found = row_count;
    p_limit := p_limit - v_found;
    exit when p_limit <= 0 or cardinality(v_ids) < v_page;
    p_after := v_ids[v_page];
  end loop;
end $$;

grant execute on function noetl.fn_projection_differences(bigint, integer) to dot_executor, service_role;

-- Rebuilds the projection of an execution from its log, in one transaction, whatever the row was before. An execution without a
-- log loses its row.
create or replace function noetl.rebuild_execution_projection(p_execution_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_execution_id is null then
    raise exception using errcode = 'SD001', message = 'p_execution_id must not be NULL';
  end if;
  -- As fn_execution_project does: one of both at a time, each on top of what the other wrote.
  perform from noetl.projection_checkpoint where shard_id = noetl.fn_shard_of(p_execution_id) for update;
  delete from noetl.execution where execution_id = p_execution_id;
  insert into noetl.execution select * from noetl.fn_execution_fold(array[p_execution_id], true);
end $$;

grant execute on function noetl.rebuild_execution_projection(bigint) to dot_executor, service_role;

-- The progress of each shard's projection, and which executions have ended and are not projected yet.
create or replace view noetl.v_projection_lag with (security_invoker = true) as
select p.shard_id, s.owner, s.epoch, p.last_projected_event_id, p.last_projected_at, p.lag_ms,
       (select count(*) from noetl.checkpoint c where c.shard_id = p.shard_id) as live,
       (select count(*) from noetl.checkpoint c where c.shard_id = p.shard_id and c.ended) as ended_not_projected
  from noetl.projection_checkpoint p
  join noetl.execution_shard s on s.shard_id = p.shard_id;

grant select on noetl.v_projection_lag to service_role, dot_executor;
