-- Keeps a partition a month for at least p_ahead, and drops those older than p_keep in which every reader has
-- read everything. Attached rather than created in place, so that writers of other partitions never wait.
create or replace function iu_core.fn_event_partitions_maintain(
  p_ahead interval default '90 days',
  p_keep interval default '90 days',
  out created integer,
  out dropped integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  v_month timestamptz := date_trunc('month', now(), 'UTC');
  v_next timestamptz;
  v_name text;
  v_old record;
  v_has_unread text;
  v_unread boolean;
begin
  if p_ahead is null or p_ahead < '0' or p_keep is null or p_keep < '0' then
    raise exception using errcode = 'SD001', message = 'p_ahead and p_keep are intervals of zero or more';
  end if;
  created := 0;
  dropped := 0;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.event_partitions', 0));
  loop
    v_next := date_trunc('month', v_month + interval '40 days', 'UTC');
    v_name := 'event_outbox_' || to_char(v_month at time zone 'UTC', '"y"YYYY"m"MM');
    if to_regclass('iu_core.' || v_name) is null then
      execute format('create table iu_core.%I (like iu_core.event_outbox including defaults including constraints)', v_name);
      execute format('alter table iu_core.%I enable row level security', v_name);
      execute format('alter table iu_core.event_outbox attach partition iu_core.%I for values from (%L) to (%L)',
                     v_name, iu_core.fn_time_uuid_floor(v_month), iu_core.fn_time_uuid_floor(v_next));
      created := created + 1;
    end if;
    exit when v_next >= now() + p_ahead;
    v_month := v_next;
  end loop;
  for v_old in
    select partition::text as name from iu_core.v_event_partition where to_time <= now() - p_keep order by to_time
  loop
    v_has_unread := format(
      'select exists (select from iu_core.event_reader r where exists
         (select from %s e where not pg_visible_in_snapshot(e.tx, r.seen)))', v_old.name);
    execute v_has_unread into v_unread;
    continue when v_unread;
    begin
      -- The parent first, as every writer does. Asked again: a writer may have committed while we waited.
      lock table only iu_core.event_outbox in access exclusive mode;
      execute v_has_unread into v_unread;
      continue when v_unread;
      execute format('drop table %s', v_old.name);
      dropped := dropped + 1;
    exception when lock_not_available then
      -- Somebody has long been at work in the outbox. The next round tries again.
      exit;
    end;
  end loop;
end $$;

grant execute on function iu_core.fn_event_partitions_maintain(interval, interval) to dot_executor;
