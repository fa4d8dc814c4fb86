-- What engines held that are gone, or go, is free again: shards, and commands by one read of them all, because the lease
-- is in no index. p_crashed: they died under it; a command whose engines died 20 times (as of a job) has failed. p_begun: only
-- these had begun (null: any of them may have), and only they are charged. Returns how many commands that were. Internal.
--
-- A command or shard that somebody has locked is not waited for: it may be an end in the transaction of a machine that lost
-- its power. Its engine stays, with its lease over, until the lock is gone. A locked shard goes with the next that takes it.
create or replace function noetl.fn_engine_free(p_engines uuid[], p_crashed boolean, p_begun text[] default null) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_crashes constant smallint := 20;
  v_held text[] := array(select c.command_id from noetl.command c where c.leased_by = any (p_engines));
  v_free text[];
  v_shards text;
begin
  v_free := array(select c.command_id from noetl.command c
                   where c.command_id = any (v_held) and c.leased_by = any (p_engines) order by c.command_id for update skip locked);
  if p_crashed then
    with dead as (
      delete from noetl.command c
       where c.command_id = any (v_free) and (p_begun is null or c.command_id = any (p_begun)) and c.crashes + 1 >= c_most_crashes
      returning c.*
    ), told as (
      insert into noetl.inbox (execution_id, shard_id, kind, body)
      select d.execution_id, d.shard_id, 'command_ended', jsonb_build_object(
               'command_id', d.command_id, 'node_id', d.node_id, 'loop_id', d.loop_id::text, 'index', d.item_index,
               'attempt', d.attempt, 'status', 'failed', 'error', format('its worker died %s times', d.crashes + 1), 'retryable', false)
        from dead d
      returning shard_id
    )
    select string_agg(distinct shard_id::text, ',') into v_shards from told;
    if v_shards is not null then
      perform pg_notify('stagedoor_inbox', v_shards);
    end if;
  end if;
  update noetl.command
     set leased_by = null, crashes = crashes + (p_crashed and (p_begun is null or command_id = any (p_begun)))::integer
   where command_id = any (v_free);
  if cardinality(v_free) > 0 then
    perform pg_notify('stagedoor_command', '');
  end if;
  update noetl.execution_shard set owner = null, leased_until = null
   where shard_id = any (array(select s.shard_id from noetl.execution_shard s where s.owner = any (p_engines) for update skip locked));
  update noetl.engine set leased_until = least(leased_until, clock_timestamp()) where engine_id = any (p_engines);
  delete from noetl.engine g where g.engine_id = any (p_engines)
     and not exists (select from noetl.command c where c.command_id = any (v_held) and c.leased_by = g.engine_id);
  return cardinality(v_free);
end $$;
