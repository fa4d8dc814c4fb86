-- Partitions of the outbox.

-- Keeps a partition a month for at least p_ahead, and drops the oldest that is older than p_keep when every reader has
-- read everything in it; where nobody reads yet, nothing goes. One in each call: the lock that a drop needs stops every
-- writer and reader until the caller commits. The dispatch log has the same partitions, which come and go with those of
-- the outbox; an event that is deferred for a consumer is not dispatched yet, so its partition stays.
--
-- enable_seqscan: whether something is unread is asked of the index by transaction. The planner expects to meet an
-- unread row soon, so would scan, and where all is read, which is the case that counts, that is the whole partition
-- for each reader (300,000 events: 600 ms; by index, with 5 readers, a round that drops takes 20 ms in all).
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
  created := iu_core.fn_partitions_make('iu_core.event_outbox', p_ahead, p_keep, 'iu_core.fn_time_uuid_floor');
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
  perform iu_core.fn_partitions_guard('iu_core.event_outbox', 'event_outbox_is_not_truncated');
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
      -- Somebody has long been at work in the outbox, or just wrote here. The next round tries again.
      null;
    end;
    exit;
  end loop;
end $$;

grant execute on function iu_core.fn_event_partitions_maintain(interval, interval) to dot_executor;

-- How many days from now on events can be written: the unbroken row of partitions that begins with today's. Null where
-- there is none for now. One rule for readiness and for doctor; the latest partition alone would hide a gap before it.
create or replace function iu_core.fn_event_partition_days_left() returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive cover as (
    select to_time from iu_core.v_event_partition where from_time <= now() and now() < to_time
    union
    select p.to_time from cover join iu_core.v_event_partition p on p.from_time = cover.to_time)
  select floor(extract(epoch from max(to_time) - now()) / 86400)::integer from cover
$$;

grant execute on function iu_core.fn_event_partition_days_left() to dot_executor, service_role;

-- The outbox's partitions with the time that each one covers, read back from its bounds.
create or replace view iu_core.v_event_partition with (security_invoker = true) as
select c.oid::regclass as partition,
       to_timestamp(('x' || left(replace(bound[1], '-', ''), 12))::bit(48)::bigint / 1000.0) as from_time,
       to_timestamp(('x' || left(replace(bound[2], '-', ''), 12))::bit(48)::bigint / 1000.0) as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('([^']+)'\) TO \('([^']+)'\)$re$) as bound
 where i.inhparent = 'iu_core.event_outbox'::regclass;

grant select on iu_core.v_event_partition to dot_executor, service_role;
