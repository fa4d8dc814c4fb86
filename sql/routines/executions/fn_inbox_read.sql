-- What the executions of an engine's shards are told, oldest first, without the rows that it has in hand already and without
-- executions that can be told nothing for now. Read whole every time, so what commits late is never passed over; the flush
-- that follows from a row deletes it.
create or replace function noetl.fn_inbox_read(
  p_engine uuid,
  p_limit integer,
  p_without bigint[] default '{}',
  p_without_executions bigint[] default '{}'
) returns setof noetl.inbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select i.* from noetl.execution_shard s
   cross join lateral (
     select n.* from noetl.inbox n
      where n.shard_id = s.shard_id and n.inbox_id not in (select w from unnest(p_without) w where w is not null)
        and n.execution_id not in (select w from unnest(p_without_executions) w where w is not null)
      order by n.inbox_id limit p_limit) i
   where s.owner = p_engine
   order by i.inbox_id limit p_limit
$$;

grant execute on function noetl.fn_inbox_read(uuid, integer, bigint[], bigint[]) to dot_executor;
