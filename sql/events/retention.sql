-- Partitions and retention of the outbox.

-- Keeps monthly partitions for at least p_ahead, and drops the oldest partition older than p_keep once every reader has read
-- all of it; without readers nothing is dropped. One for each call: the lock of a drop stops every writer and reader until the
-- caller commits. The dispatch log has the same partitions, created and dropped together; an event that is deferred for a
-- consumer is not dispatched yet, so its partition stays.
--
-- enable_seqscan: the index by transaction answers whether something is unread. The planner expects to find an unread row soon
-- and would scan; if all is read, the usual case, that is the whole partition for each reader (300,000 events: 600 ms; by
-- index, with 5 readers, a round that drops takes 20 ms in all).
create or replace function iu_core.fn_event_partitions_maintain(
  p_ahead interval default '90 days',
  p_keep interval default '90 days',
  out created integer,
  out dropped integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
set enable_seqscan = off
as $$
declare
  v_old record;
  v_log text;
  v_has_unread text;
  v_unread boolean;
begin
  created := iu_core.fn_partitions_create('iu_core.event_outbox', p_ahead, p_keep, 'iu_core.fn_time_uuid_floor');
  dropped := 0;
  for v_old in
    select c.oid::regclass::text as name, pg_get_expr(c.relpartbound, c.oid) as bounds
      from iu_core.v_event_partition p join pg_class c on c.oid = p.partition
  loop
    v_log := replace(v_old.name, 'event_outbox', 'event_dispatch_log');
    if to_regclass(v_log) is null then
      execute format('create table %s (like iu_core.event_dispatch_log including defaults including constraints)', v_log);
      execute format('alter table %s enable row level security', v_log);
      execute format('alter table iu_core.event_dispatch_log attach partition %s %s', v_log, v_old.bounds);
    end if;
  end loop;
  perform iu_core.fn_partitions_forbid_truncate('iu_core.event_outbox', 'event_outbox_is_not_truncated');
  if not exists (select from iu_core.event_reader) then
    return;
  end if;
  for v_old in
    select partition::text as name from iu_core.v_event_partition where to_time <= now() - p_keep order by to_time
  loop
    -- What a snapshot does not show: the transactions that were in progress then, and those that began later.
    v_log := replace(v_old.name, 'event_outbox', 'event_dispatch_log');
    v_has_unread := format(
      'select exists (
         select from iu_core.event_reader r
          where exists (select from %1$s e where e.tx >= pg_snapshot_xmax(r.seen))
             or exists (select from %1$s e where e.tx = any (array(select pg_snapshot_xip(r.seen)))))
         or exists (select from %2$s l where l.outcome = ''deferred'')', v_old.name, v_log);
    execute v_has_unread into v_unread;
    continue when v_unread;
    begin
      -- The parent first, as every writer does. Asked again: a writer may have committed while we waited.
      lock table only iu_core.event_outbox in access exclusive mode;
      execute v_has_unread into v_unread;
      if v_unread then
        -- An error ends the block, and the lock with it; leaving it would keep the lock to the end of the transaction.
        raise exception using errcode = 'lock_not_available';
      end if;
      execute format('drop table %s, %s', v_old.name, v_log);
      dropped := 1;
    exception when lock_not_available then
      -- A long transaction uses the outbox, or one has just written here. The next run retries.
      null;
    end;
    exit;
  end loop;
end $$;

grant execute on function iu_core.fn_event_partitions_maintain(interval, interval) to dot_executor;

-- For how many days from now the outbox has partitions. One rule for readiness and for doctor.
create or replace function iu_core.fn_event_partition_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_partitions_days_left(range_agg(tstzrange(from_time, to_time))) from iu_core.v_event_partition
$$;

grant execute on function iu_core.fn_event_partition_days_left() to dot_executor, service_role;

-- The partitions of the outbox with the time range of each, read from their bounds.
create or replace view iu_core.v_event_partition with (security_invoker = true) as
select c.oid::regclass as partition,
       to_timestamp(('x' || left(replace(bound[1], '-', ''), 12))::bit(48)::bigint / 1000.0) as from_time,
       to_timestamp(('x' || left(replace(bound[2], '-', ''), 12))::bit(48)::bigint / 1000.0) as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('([^']+)'\) TO \('([^']+)'\)$re$) as bound
 where i.inhparent = 'iu_core.event_outbox'::regclass;

grant select on iu_core.v_event_partition to dot_executor, service_role;
