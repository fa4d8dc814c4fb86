-- Partitions and retention of the job history.

-- Keeps monthly partitions of the history for at least p_ahead, drops one that is wholly older than p_keep (one for each call,
-- because the lock stops completions), and deletes keys of ended jobs after the retention of their kind.
create or replace function iu_core.fn_job_history_maintain(
  p_ahead interval default '90 days', p_keep interval default '90 days',
  out created integer, out dropped integer, out keys integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  v_name text;
begin
  created := iu_core.fn_partitions_create('iu_core.job_history', p_ahead, p_keep);
  dropped := 0;
  select partition::text into v_name from iu_core.v_job_history_partition
   where to_time <= now() - p_keep order by to_time limit 1;
  if v_name is not null then
    begin
      execute format('drop table %s', v_name);
      dropped := 1;
    exception when lock_not_available then
      null; -- A long transaction uses it. The next run retries.
    end;
  end if;
  -- Never while the job is there, and a history row outlives no key: the longer of both holds. An id says when the job was
  -- enqueued; one that ended much later is found in the history.
  with old as (
    select y.job_kind, y.idempotency_key
      from iu_core.job_kind k
      join iu_core.job_key y on y.job_kind = k.job_kind
     where y.job_id < iu_core.fn_time_uuid_floor(now() - greatest(k.key_retention, p_keep))
       and not exists (select from iu_core.job_queue q where q.job_id = y.job_id)
       and not exists (select from iu_core.job_dead_letter d where d.job_id = y.job_id)
       and not exists (select from iu_core.job_history h
                        where h.job_id = y.job_id and h.finished_at >= now() - greatest(k.key_retention, p_keep))
     limit 100000
  )
  delete from iu_core.job_key y using old where y.job_kind = old.job_kind and y.idempotency_key = old.idempotency_key;
  get diagnostics keys = row_count;
end $$;

grant execute on function iu_core.fn_job_history_maintain(interval, interval) to dot_executor, service_role;

-- For how many days from now the job history has partitions.
create or replace function iu_core.fn_job_history_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_partitions_days_left(range_agg(tstzrange(from_time, to_time))) from iu_core.v_job_history_partition
$$;

grant execute on function iu_core.fn_job_history_days_left() to dot_executor, service_role;

-- The partitions of the history with the time range of each, read from their bounds.
create or replace view iu_core.v_job_history_partition with (security_invoker = true) as
select c.oid::regclass as partition, bound[1]::timestamptz as from_time, bound[2]::timestamptz as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('([^']+)'\) TO \('([^']+)'\)$re$) as bound
 where i.inhparent = 'iu_core.job_history'::regclass;

grant select on iu_core.v_job_history_partition to dot_executor, service_role;
