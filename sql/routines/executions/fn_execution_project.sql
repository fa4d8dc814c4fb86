-- Brings the projection of executions up to their log, for the engine that holds their shards: rows, the shards'
-- watermarks and the end of checkpoints that are needed no longer, in one transaction.
-- events: how many were folded. lag_ms: how old the oldest of them was then.
--
-- A row is deleted from checkpoint only when its end is projected: until then it says that there is something to project.
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
    perform noetl.fn_engine_lost(p_engine);
  end if;
  if exists (select from unnest(p_executions) as x (id) where noetl.fn_shard_of(x.id) <> all (p_shards)) then
    raise exception using errcode = 'SD001', message = 'An execution to project belongs to none of the shards that are named';
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
