-- Partitions and retention of the execution log.

-- Keeps monthly partitions of the log for at least p_ahead. Drops the oldest when every execution that began in it ended more
-- than p_keep ago (null: noetl.retention) and nothing refers to it: no checkpoint, inbox row, command or wait, no event that is
-- not projected, no file of a result. One for each call: the lock of a drop stops every writer until the caller commits. The
-- rows of those executions are deleted with it: projection, references of results, keys.
create or replace function noetl.fn_execution_partitions_maintain(
  p_ahead interval default '90 days',
  p_keep interval default null,
  out created integer,
  out dropped integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  v_old record;
  v_needed boolean;
begin
  p_keep := coalesce(p_keep, (select log from noetl.retention));
  created := iu_core.fn_partitions_create('noetl.event', p_ahead, p_keep, 'noetl.fn_snowflake_floor');
  dropped := 0;
  -- Rows that only waits of running executions need.
  delete from noetl.wait_received_event h where not exists (select from noetl.checkpoint c where c.execution_id = h.execution_id);
  perform iu_core.fn_partitions_forbid_truncate('noetl.event', 'event_is_not_truncated');
  for v_old in
    select partition::text as name, from_id, to_id - 1 as to_id
      from noetl.v_execution_partition where to_time <= now() - p_keep order by to_time
  loop
    continue when noetl.fn_executions_in_use(v_old.from_id, v_old.to_id, now() - p_keep);
    execute format('select exists (select from %s e left join noetl.execution x on x.execution_id = e.execution_id
                                    where x.execution_id is null or x.last_seq < e.seq)', v_old.name) into v_needed;
    continue when v_needed;
    begin
      -- Before the lock, to keep it short. A rollback restores them if the lock is not available.
      delete from noetl.result_ref where execution_id between v_old.from_id and v_old.to_id;
      delete from noetl.execution_key where execution_id between v_old.from_id and v_old.to_id;
      delete from noetl.execution where execution_id between v_old.from_id and v_old.to_id;
      -- The parent first, as every writer does. Asked again: something may have come while we waited.
      lock table only noetl.event in access exclusive mode;
      if noetl.fn_executions_in_use(v_old.from_id, v_old.to_id, now() - p_keep) then
        raise exception using errcode = 'lock_not_available';
      end if;
      execute format('drop table %s', v_old.name);
      dropped := 1;
    exception when lock_not_available then
      null; -- A long transaction uses the log, or an execution has just begun here. The next run retries.
    end;
    exit;
  end loop;
end $$;

grant execute on function noetl.fn_execution_partitions_maintain(interval, interval) to dot_executor, service_role;

-- Whether the log of the executions from p_from to p_to is still needed: one of them had not ended before p_before, has an
-- inbox row, a wait or a command, or has a result in a file that is not deleted yet. Internal.
create or replace function noetl.fn_executions_in_use(p_from bigint, p_to bigint, p_before timestamptz) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.checkpoint where execution_id between p_from and p_to)
      or exists (select from noetl.inbox where execution_id between p_from and p_to)
      or exists (select from noetl.wait where execution_id between p_from and p_to)
      or exists (select from noetl.command where execution_id between p_from and p_to)
      or exists (select from noetl.execution
                  where execution_id between p_from and p_to and (end_time is null or end_time > p_before))
      or exists (select from noetl.result_ref
                  where execution_id between p_from and p_to and collected_at is null
                    and store_tier not in ('db', 'memory', 'eventlog'))
$$;

-- For how many days from now the execution log has partitions.
create or replace function noetl.fn_execution_partition_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_partitions_days_left(range_agg(tstzrange(from_time, to_time))) from noetl.v_execution_partition
$$;

grant execute on function noetl.fn_execution_partition_days_left() to dot_executor, service_role;

-- The partitions of the log with the ids and the time range of each, read from their bounds.
create or replace view noetl.v_execution_partition with (security_invoker = true) as
select c.oid::regclass as partition,
       bound[1]::bigint as from_id,
       bound[2]::bigint as to_id,
       noetl.fn_snowflake_time(bound[1]::bigint) as from_time,
       noetl.fn_snowflake_time(bound[2]::bigint) as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(\d+)'\) TO \('(\d+)'\)$re$) as bound
 where i.inhparent = 'noetl.event'::regclass;

grant select on noetl.v_execution_partition to dot_executor, service_role;
