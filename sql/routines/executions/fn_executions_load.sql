-- The executions of a shard that have not ended, or whose end is not projected yet: what its new owner begins with. The
-- state is the fold as of last_seq; where there is none, the log is folded from its start.
create or replace function noetl.fn_executions_load(p_engine uuid, p_shard smallint)
returns table (execution_id bigint, last_seq integer, fold_version smallint, state jsonb, ended boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if not exists (select from noetl.execution_shard s where s.shard_id = p_shard and s.owner = p_engine) then
    perform noetl.fn_engine_lost(p_engine);
  end if;
  return query
    select c.execution_id, case when c.state is null then 0 else c.last_seq end, c.fold_version, c.state, c.ended
      from noetl.checkpoint c where c.shard_id = p_shard order by c.execution_id;
end $$;

grant execute on function noetl.fn_executions_load(uuid, smallint) to dot_executor;
