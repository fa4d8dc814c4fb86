-- Hands shards back. From here on whatever their engine still flushes there is refused.
create or replace function noetl.fn_engine_give(p_engine uuid, p_shards smallint[]) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  update noetl.execution_shard set owner = null, leased_until = null
   where shard_id = any (array(select s.shard_id from noetl.execution_shard s
                                where s.owner = p_engine and s.shard_id = any (p_shards) order by s.shard_id for update))
$$;

grant execute on function noetl.fn_engine_give(uuid, smallint[]) to dot_executor;
