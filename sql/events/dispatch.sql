-- Dispatch: each event enqueues one job for each consumer, once.

-- Dispatches one event to all its consumers now, ahead of its order. The dispatcher later finds it done. Returns the outcome of
-- each consumer.
create or replace function iu_core.fn_consumer_dispatch(p_event_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event iu_core.event_outbox;
  c iu_core.consumer_registry;
begin
  if not iu_core.fn_gate_open('queue.consumer_dispatch.enabled') then
    return jsonb_build_object('enabled', false, 'event_id', p_event_id, 'consumers', '[]'::jsonb);
  end if;
  select * into v_event from iu_core.event_outbox where id = p_event_id;
  if not found then
    raise exception using
      errcode = 'SD326',
      message = format('There is no event %s', p_event_id),
      detail = json_build_object('event', p_event_id)::text;
  end if;
  if iu_core.fn_consumer_lock_dispatcher(true) then
    for c in
      select * from iu_core.consumer_registry
       where enabled and event_domain = v_event.event_domain and event_type = v_event.event_type order by consumer_id
    loop
      perform iu_core.fn_consumer_dispatch_events(c, array[v_event]);
    end loop;
  end if;
  return jsonb_build_object(
    'enabled', true,
    'event_id', p_event_id,
    'consumers', (select coalesce(jsonb_agg(jsonb_build_object('consumer_id', l.consumer_id, 'outcome', l.outcome, 'job_id', l.job_id)
                                            order by l.consumer_id), '[]')
                    from iu_core.event_dispatch_log l where l.event_id = p_event_id));
end $$;

grant execute on function iu_core.fn_consumer_dispatch(uuid) to dot_executor;

-- Dispatches the next events of the outbox to all their consumers: jobs, log and the reader's position in one transaction, so
-- that a dispatcher that dies has done nothing. One dispatcher works at a time; a second one returns at once. While the gate
-- queue.consumer_dispatch.enabled is closed nothing is dispatched, and nothing is lost.
create or replace function iu_core.fn_consumer_dispatch_batch(
  p_limit integer default 1000,
  out events integer,
  out jobs integer,
  out duplicates integer,
  out dry_runs integer,
  out failures integer,
  out deferred integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group record;
  c iu_core.consumer_registry;
  d record;
begin
  events := 0;
  jobs := 0;
  duplicates := 0;
  dry_runs := 0;
  failures := 0;
  deferred := 0;
  if not iu_core.fn_gate_open('queue.consumer_dispatch.enabled') or not iu_core.fn_consumer_lock_dispatcher() then
    return;
  end if;
  for v_group in
    -- Events deferred by a user's transaction: retried after a second, with a growing delay up to a minute.
    select held.consumer_id, null::text as event_domain, null::text as event_type, true as again,
           array_agg(held.event order by (held.event).tx, (held.event).seq) as events
      from (select l.consumer_id, e as event
              from iu_core.event_dispatch_log l
              join iu_core.event_outbox e on e.id = l.event_id
              join iu_core.consumer_registry a on a.consumer_id = l.consumer_id and a.enabled and not a.dry_run
             where l.outcome = 'deferred' and l.dispatched_at < now() - interval '1 second'
               and l.dispatched_at < now() - least(interval '1 minute', (l.dispatched_at - e.created_at) / 8)
             order by l.dispatched_at limit p_limit) held
     group by 1
    union all
    select null, e.event_domain, e.event_type, false, array_agg(e order by e.tx, e.seq)
      from iu_core.fn_event_read('consumers', p_limit) e
     group by 2, 3
  loop
    if not v_group.again then
      events := events + cardinality(v_group.events);
    end if;
    for c in
      select r.* from iu_core.consumer_registry r
       where r.enabled
         and case when v_group.again then r.consumer_id = v_group.consumer_id and not r.dry_run
                  else r.event_domain = v_group.event_domain and r.event_type = v_group.event_type end
       order by r.consumer_id
    loop
      select * into d from iu_core.fn_consumer_dispatch_events(c, v_group.events, v_group.again);
      jobs := jobs + d.jobs;
      duplicates := duplicates + d.duplicates;
      dry_runs := dry_runs + d.dry_runs;
      failures := failures + d.failures;
      deferred := deferred + d.deferred;
    end loop;
  end loop;
end $$;

grant execute on function iu_core.fn_consumer_dispatch_batch(integer) to dot_executor;

-- Dispatches past events to an active consumer: those before its activation, those that failed, and those that a dry run only
-- noted. It skips events that the consumer already has, so it can be called again. Oldest first, at most p_limit events in one
-- call; pass last_event_id as p_after to the next call; NULL means that there are no more. Administrators only.
create or replace function iu_core.fn_consumer_backfill(
  p_consumer_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_limit integer default 10000,
  p_after uuid default null,
  out events integer,
  out jobs integer,
  out duplicates integer,
  out failures integer,
  out deferred integer,
  out last_event_id uuid
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
  v_events iu_core.event_outbox[];
begin
  if p_from is null or p_to is null or p_from > p_to or p_limit is null or p_limit < 1 or p_limit > 100000 then
    raise exception using errcode = 'SD001', message = 'Give p_from, a later p_to, and a limit from 1 to 100000';
  end if;
  perform iu_core.fn_gate_require('queue.consumer_dispatch.enabled');
  perform iu_core.fn_consumer_lock_dispatcher(true);
  c := iu_core.fn_consumer_require(p_consumer_id);
  if not c.enabled or c.dry_run then
    raise exception using
      errcode = 'SD322',
      message = format('The consumer %s is not active', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  -- By the event's own time; by id only to find it, because ids are times and partitions. An id is a moment older than its
  -- event: in one large batch all of them are made before the first row is written.
  select array_agg(e order by e.id) into v_events
    from (select e.* from iu_core.event_outbox e
           where e.id >= iu_core.fn_time_uuid_floor(p_from - interval '1 hour') and (p_after is null or e.id > p_after)
             and e.id <= iu_core.fn_time_uuid_floor(p_to + interval '1 millisecond')
             and e.event_domain = c.event_domain and e.event_type = c.event_type
             and (c.event_stream is null or e.event_stream = c.event_stream)
             and (c.workspace_id is null or e.workspace_id = c.workspace_id)
             and e.created_at >= p_from and e.created_at <= p_to
             and not exists (select from iu_core.event_dispatch_log l
                              where l.event_id = e.id and l.consumer_id = p_consumer_id
                                and l.outcome in ('enqueued', 'duplicate'))
           order by e.id limit p_limit) as e;
  events := coalesce(cardinality(v_events), 0);
  select p.jobs, p.duplicates, p.failures, p.deferred into jobs, duplicates, failures, deferred
    from iu_core.fn_consumer_dispatch_events(c, v_events, true) p;
  if events = p_limit then
    last_event_id := v_events[events].id;
  end if;
end $$;

-- Locks the dispatcher's row until the end of the transaction. With p_wait false it returns false if another session holds it,
-- or if there is nothing to do. It also returns false while no consumer was ever active. Internal.
create or replace function iu_core.fn_consumer_lock_dispatcher(p_wait boolean default false) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seen pg_snapshot;
begin
  select seen into v_seen from iu_core.event_reader where reader = 'consumers';
  if v_seen is null then
    if exists (select from iu_core.consumer_registry where enabled) then
      raise exception using
        errcode = 'SD303',
        message = 'There is no event reader called ''consumers'', but there are consumers',
        detail = json_build_object('reader', 'consumers')::text;
    end if;
    return false;
  end if;
  if pg_snapshot_xmax(v_seen) > pg_snapshot_xmax(pg_current_snapshot()) then
    -- Continuing would count all new events as read.
    raise exception using
      errcode = 'SD325',
      message = 'The position of the dispatcher belongs to another server: this database was restored from a dump';
  end if;
  if p_wait then
    perform from iu_core.event_reader where reader = 'consumers' for update;
    return true;
  end if;
  if not iu_core.fn_consumer_has_work() then
    return false;
  end if;
  perform from iu_core.event_reader where reader = 'consumers' for update skip locked;
  return found;
end $$;

-- Whether there are events that the dispatcher has not read, or deferred events that it would retry now (as in
-- fn_consumer_dispatch_batch). Asked before anything is locked or written: an idle dispatcher, five times a second in every
-- process, leaves no trace in the database. enable_seqscan: as in fn_event_partitions_maintain, the planner would expect to
-- find an unread row soon. Internal.
create or replace function iu_core.fn_consumer_has_work() returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_seen pg_snapshot;
  v_target pg_snapshot;
begin
  select seen, target into v_seen, v_target from iu_core.event_reader where reader = 'consumers';
  return v_target is not null
      or exists (select from iu_core.event_outbox e where e.tx >= pg_snapshot_xmax(v_seen))
      or exists (select from iu_core.event_outbox e where e.tx = any (array(select pg_snapshot_xip(v_seen))))
      or exists (select from iu_core.event_dispatch_log l
                    join iu_core.event_outbox e on e.id = l.event_id
                    join iu_core.consumer_registry a on a.consumer_id = l.consumer_id and a.enabled and not a.dry_run
                   where l.outcome = 'deferred' and l.dispatched_at < now() - interval '1 second'
                     and l.dispatched_at < now() - least(interval '1 minute', (l.dispatched_at - e.created_at) / 8));
end $$;

-- Dispatches events of one domain and type to one consumer. The caller holds the dispatcher's row, so there is one at a time.
-- p_again: as in fn_consumer_job_sql. Internal.
create or replace function iu_core.fn_consumer_dispatch_events(
  c iu_core.consumer_registry,
  p_events iu_core.event_outbox[],
  p_again boolean default false,
  out jobs integer,
  out duplicates integer,
  out dry_runs integer,
  out failures integer,
  out deferred integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rate iu_core.consumer_rate;
  r record;
  p record;
begin
  jobs := 0;
  duplicates := 0;
  dry_runs := 0;
  failures := 0;
  deferred := 0;
  if c.rate is not null then
    -- Unused places of a past period expire.
    insert into iu_core.consumer_rate as k (consumer_id, period_started_at, used) values (c.consumer_id, now(), 0)
    on conflict (consumer_id) do update set period_started_at = excluded.period_started_at, used = 0
     where k.period_started_at + (k.used / c.rate + 1) * c.rate_period <= excluded.period_started_at;
    select * into v_rate from iu_core.consumer_rate where consumer_id = c.consumer_id;
  end if;
  if not p_again then
    jobs := iu_core.fn_consumer_enqueue_new(c, p_events);
    if jobs is not null then
      return;
    end if;
    jobs := 0;
  end if;
  execute iu_core.fn_consumer_job_sql(c, p_again) into r using p_events, v_rate.period_started_at, v_rate.used;
  if c.dry_run then
    insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, detail)
    select r.event_ids[j.ordinality], c.consumer_id, 'dry_run',
           jsonb_build_object('idempotency_key', j.idempotency_key, 'payload_ref', j.payload_ref,
                              'job_kind', j.job_kind, 'executor', j.executor)
      from unnest(r.jobs) with ordinality j
    union all
    select e.id, c.consumer_id, 'dry_run',
           jsonb_build_object('problem', case e.problem when 'too_deep'
             then format('too_deep: no job would be created, because the limit is a chain of %s events', c.max_depth) else e.problem end)
      from unnest(r.problem_ids, r.problems) as e (id, problem)
    on conflict do nothing;
    dry_runs := coalesce(cardinality(r.event_ids), 0) + coalesce(cardinality(r.problem_ids), 0);
    return;
  end if;
  if r.jobs is not null then
    select * into jobs, duplicates, failures, deferred from iu_core.fn_consumer_enqueue(c, r.event_ids, r.jobs, p_again);
    if c.rate is not null then
      update iu_core.consumer_rate set used = used + jobs where consumer_id = c.consumer_id;
    end if;
  end if;
  for p in
    select e.problem, array_agg(e.id) as event_ids from unnest(r.problem_ids, r.problems) as e (id, problem) group by 1
  loop
    perform iu_core.fn_consumer_fail(c, p.event_ids, case p.problem
      when 'too_deep' then jsonb_build_object('problem', 'too_deep', 'max_depth', c.max_depth)
      else jsonb_build_object('problem', p.problem) end);
    failures := failures + cardinality(p.event_ids);
  end loop;
end $$;

-- The usual case in one statement: every event is new to the consumer and becomes a job whose key contains the event's id. Keys,
-- jobs and the log are inserted from the events as they are (12 µs a job; through an array of jobs 18). Returns NULL, and has written
-- nothing, if that fails for any event (dispatched ahead of its order, key known or held by others, too deep, a NULL in a template):
-- the statements for all cases then find out which. Also NULL for what they alone can do: dry runs, rates, other templates, kinds
-- whose keys are replaced or whose jobs take turns. Internal.
create or replace function iu_core.fn_consumer_enqueue_new(c iu_core.consumer_registry, p_events iu_core.event_outbox[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  v_columns jsonb := iu_core.fn_consumer_job_columns(c);
  v_jobs integer;
  v_problems integer;
begin
  if c.dry_run or c.rate is not null or position('{event_id}' in c.idempotency_key_template) = 0
     or not exists (select from iu_core.job_kind k where k.job_kind = c.job_kind and k.key_mode = 'keep' and k.fair_by is null) then
    return null;
  end if;
  begin
    execute format(
      $sql$
      with r as materialized (
        select iu_core.fn_time_uuid() as job_id, r.* from (%1$s) as r
      ), keys as (
        insert into iu_core.job_key (job_kind, idempotency_key, job_id) select %2$L, r.key, r.job_id from r order by r.key
      ), queued as (
        insert into iu_core.job_queue (job_id, %3$s) select r.job_id, %4$s from r
      ), logged as (
        insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, job_id) select r.id, %5$L, 'enqueued', r.job_id from r
      )
      select count(*), count(r.problem) from r
      $sql$,
      iu_core.fn_consumer_rows_sql(c), c.job_kind,
      (select string_agg(key, ', ' order by key) from jsonb_each_text(v_columns)),
      (select string_agg(value, ', ' order by key) from jsonb_each_text(v_columns)),
      c.consumer_id)
      into v_jobs, v_problems using p_events;
    if v_problems > 0 then
      raise exception using errcode = 'SD001', message = 'Some events cannot become jobs';
    end if;
  exception
    when lock_not_available then
      return null;
    when others then
      if left(sqlstate, 2) not in ('22', '23', '54', 'P0', 'SD') then
        raise;
      end if;
      return null;
  end;
  -- As in fn_job_put.
  if v_jobs > 0 and exists (select from iu_core.worker_idle w where w.executor = c.executor and c.job_kind = any (w.kinds)) then
    perform pg_notify('stagedoor', 'jobs ' || c.job_kind);
  end if;
  return v_jobs;
end $$;

-- What a consumer writes into the columns of a job, as expressions over a row r of fn_consumer_rows_sql. Internal.
create or replace function iu_core.fn_consumer_job_columns(c iu_core.consumer_registry) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'job_kind', quote_literal(c.job_kind),
    'executor', quote_literal(c.executor),
    'priority', c.priority,
    'process_after', 'now()',
    'idempotency_key', 'r.key',
    'source_ref', 'r.canonical_address',
    'target_ref', 'r.event_subject_ref',
    'payload_ref', 'r.ref',
    'safe_payload', quote_literal(jsonb_build_object('consumer_id', c.consumer_id, 'event_type', c.event_type)) || '::jsonb',
    'workspace_id', 'r.workspace_id',
    'correlation_id', 'r.correlation_id',
    'causation_event_id', 'r.id',
    'causation_depth', 'r.causation_depth',
    'actor', quote_literal('consumer:' || c.consumer_id))
$$;

-- The SELECT over an array of events ($1) that gives those of one consumer in order (ordinality), with the key and the reference of
-- their jobs, and the reason why an event cannot become one. p_again: also events before the consumer's activation. Internal.
create or replace function iu_core.fn_consumer_rows_sql(c iu_core.consumer_registry, p_again boolean default false, p_where text default 'true')
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ref text := case when c.payload_ref_template is not null then iu_core.fn_consumer_template_sql(c.payload_ref_template, false) end;
begin
  -- Deliveries to one target take turns with those to others by the target's name, which is the consumer's.
  if c.job_kind = 'webhook_deliver' and coalesce(c.payload_ref_template, '') not like 'webhook:%' then
    v_ref := quote_literal('webhook:' || c.consumer_id);
  end if;
  return format(
    $sql$
    select k.*, case when k.causation_depth > %1$s then 'too_deep'
                     when k.key is null then 'a field of the idempotency_key_template is NULL'
                     when length(k.key) > 500 then 'the idempotency key has more than 500 characters'
                     when %2$s then 'a field of the payload_ref_template is NULL' end as problem
      from (select e.*, %3$L || %4$s as key, %5$s as ref from unnest($1) with ordinality as e where %6$s) as k
    $sql$,
    c.max_depth, case when v_ref is null then 'false' else 'k.ref is null' end,
    c.consumer_id || ':', iu_core.fn_consumer_template_sql(c.idempotency_key_template, true), coalesce(v_ref, 'null::text'),
    concat_ws(' and ', p_where,
      case when c.event_stream is not null then format('e.event_stream = %L', c.event_stream) end,
      case when c.workspace_id is not null then format('e.workspace_id = %L', c.workspace_id) end,
      case when not p_again then format('not pg_visible_in_snapshot(e.tx, %L)', c.active_from) end));
end $$;

-- The statement that turns an array of events ($1) into one consumer's jobs, in order: event ids and jobs for those that can be
-- dispatched, event ids and reasons for those that cannot. A rate limit ($2: period_started_at, $3: used places) delays the jobs above
-- it. p_again: also events before the consumer's activation, and events that failed before. Internal. Columns of the job are
-- named, so that a new column of the queue shifts nothing. The log is read event by event: NOT EXISTS would be planned as a
-- join with the whole log whenever its statistics are older than a burst.
create or replace function iu_core.fn_consumer_job_sql(c iu_core.consumer_registry, p_again boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns jsonb := iu_core.fn_consumer_job_columns(c);
  v_row text;
begin
  if c.rate is not null then
    v_columns := v_columns || jsonb_build_object('process_after', format(
      'greatest(now(), $2 + (($3 + count(*) filter (where r.problem is null) over (order by r.ordinality) - 1) / %s) * %L::interval)',
      c.rate, c.rate_period));
  end if;
  select string_agg(coalesce(v_columns ->> attname, 'null'), ', ' order by attnum) into v_row
    from pg_attribute where attrelid = 'iu_core.job_queue'::regclass and attnum > 0 and not attisdropped;
  return format(
    $sql$
    select array_agg(j.id order by j.ordinality) filter (where j.problem is null) as event_ids,
           array_agg(j.job order by j.ordinality) filter (where j.problem is null) as jobs,
           array_agg(j.id order by j.ordinality) filter (where j.problem is not null) as problem_ids,
           array_agg(j.problem order by j.ordinality) filter (where j.problem is not null) as problems
      from (select r.id, r.ordinality, r.problem, row(%s)::iu_core.job_queue as job from (%s) as r) as j
    $sql$,
    v_row,
    iu_core.fn_consumer_rows_sql(c, p_again, format(
      '(select l.outcome from iu_core.event_dispatch_log l where l.event_id = e.id and l.consumer_id = %L and %s) is null',
      c.consumer_id, case when p_again then 'l.outcome in (''enqueued'', ''duplicate'')' else 'true' end)));
end $$;

-- Writes one consumer's jobs into the queue and their lines into the log, in one statement. If that fails, it halves the batch
-- until the failing event is alone, and the rest continues. Internal.
--
-- A job key that an open transaction of others has written would make us wait for its end, perhaps for hours: after 50 ms the
-- events are deferred, and a later pass retries. After several such waits the rest is deferred at once, so that a transaction
-- with thousands of our keys delays nobody for long. An error caused by the event (its values, our own refusals) belongs to the
-- event. An error of the server (a full disk, a lost table, a deadlock) fails the whole pass, which is retried.
create or replace function iu_core.fn_consumer_enqueue(
  c iu_core.consumer_registry,
  p_event_ids uuid[],
  p_jobs iu_core.job_queue[],
  p_again boolean,
  out jobs integer,
  out duplicates integer,
  out failures integer,
  out deferred integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  c_most_waits constant integer := 12;
  v_first integer[] := array[1];
  v_last integer[] := array[cardinality(p_jobs)];
  v_waits integer := 0;
  v_fresh integer;
  v_other integer;
  v_error text;
  v_state text;
  a integer;
  b integer;
  v_middle integer;
begin
  jobs := 0;
  duplicates := 0;
  failures := 0;
  deferred := 0;
  while cardinality(v_first) > 0 loop
    a := v_first[cardinality(v_first)];
    b := v_last[cardinality(v_last)];
    v_first := trim_array(v_first, 1);
    v_last := trim_array(v_last, 1);
    begin
      if p_again then
        delete from iu_core.event_dispatch_log l
         where l.event_id = any (p_event_ids[a:b]) and l.consumer_id = c.consumer_id;
      end if;
      with put as (
        select p_event_ids[p.ordinal + a - 1] as event_id, p.job_id, p.fresh
          from iu_core.fn_job_put(case when a = 1 and b = cardinality(p_jobs) then p_jobs else p_jobs[a:b] end) p
      ), logged as (
        insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, job_id)
        select p.event_id, c.consumer_id, case when p.fresh then 'enqueued' else 'duplicate' end, p.job_id from put p
      )
      select count(*) filter (where fresh), count(*) filter (where not fresh) into v_fresh, v_other from put;
      jobs := jobs + v_fresh;
      duplicates := duplicates + v_other;
      continue;
    exception
      when lock_not_available then
        v_state := null;
        v_waits := v_waits + 1;
      when others then
        if left(sqlstate, 2) not in ('22', '23', '54', 'P0', 'SD') then
          raise;
        end if;
        v_state := sqlstate;
        v_error := sqlerrm;
    end;
    if a < b and (v_state is not null or v_waits <= c_most_waits) then
      v_middle := (a + b) / 2;
      v_first := v_first || array[v_middle + 1, a];
      v_last := v_last || array[b, v_middle];
    elsif v_state is null then
      perform iu_core.fn_consumer_log(c.consumer_id, p_event_ids[a:b], 'deferred',
                                      '{"problem": "an open transaction holds the key of its job"}');
      deferred := deferred + b - a + 1;
    else
      perform iu_core.fn_consumer_fail(c, p_event_ids[a:a], jsonb_build_object('problem', v_error, 'sqlstate', v_state));
      failures := failures + 1;
    end if;
  end loop;
end $$;

-- Logs what a consumer did not enqueue, and why. Events that are already enqueued stay so. Internal.
create or replace function iu_core.fn_consumer_log(p_consumer_id text, p_event_ids uuid[], p_outcome text, p_detail jsonb)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into iu_core.event_dispatch_log as l (event_id, consumer_id, outcome, detail)
  select e, p_consumer_id, p_outcome, p_detail from unnest(p_event_ids) e
  on conflict (event_id, consumer_id) do update
     set outcome = excluded.outcome, job_id = null, detail = excluded.detail, dispatched_at = excluded.dispatched_at
   where l.outcome not in ('enqueued', 'duplicate')
$$;

-- Records events that a consumer cannot take. With fail_closed they become dead letters and open an issue; otherwise they are
-- only logged. A chain of causes that is too deep always opens an issue. If that issue is being resolved in an open
-- transaction, the events are deferred: waiting would block everybody, and not counting them would lose them behind a
-- resolution that never knew of them. Internal.
create or replace function iu_core.fn_consumer_fail(c iu_core.consumer_registry, p_event_ids uuid[], p_detail jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  v_too_deep boolean := p_detail ->> 'problem' = 'too_deep';
begin
  perform iu_core.fn_consumer_log(
    c.consumer_id, p_event_ids,
    case when v_too_deep then 'too_deep' when c.fail_closed then 'dead_letter' else 'failed' end, p_detail);
  if v_too_deep or c.fail_closed then
    perform iu_core.fn_system_issue_open(
      case when v_too_deep then 'consumer_too_deep' else 'consumer_failed' end,
      'error',
      'consumer:' || c.consumer_id,
      format(case when v_too_deep then 'Events reach %s through more than %s causes: does it feed itself?'
                  else '%s cannot take some of its events' end, c.consumer_id, c.max_depth),
      p_detail || jsonb_build_object('consumer_id', c.consumer_id, 'event_id', p_event_ids[1]),
      c.workspace_id,
      cardinality(p_event_ids));
  end if;
exception when lock_not_available then
  perform iu_core.fn_consumer_log(c.consumer_id, p_event_ids, 'deferred', p_detail);
end $$;

-- How many jobs each consumer created in the last 24 hours: waiting or running, completed, and dead-lettered.
create or replace view iu_core.v_consumer_dispatch_recent with (security_invoker = true) as
select j.safe_payload ->> 'consumer_id' as consumer_id, count(*) as dispatched_24h
  from (select safe_payload, causation_event_id, enqueued_at from iu_core.job_queue
        union all
        -- Jobs enqueued since then also ended since then: older partitions are not read.
        select safe_payload, causation_event_id, enqueued_at from iu_core.job_history
         where finished_at > now() - interval '24 hours'
        union all
        select safe_payload, causation_event_id, enqueued_at from iu_core.job_dead_letter) as j
 where j.causation_event_id is not null
   and j.enqueued_at > now() - interval '24 hours'
   and j.safe_payload ? 'consumer_id'
 group by 1;

grant select on iu_core.v_consumer_dispatch_recent to authenticated, stagedoor_reviewer, service_role, dot_executor;
