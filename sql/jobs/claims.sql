-- Claims: due jobs, in batches, under the lease of a worker.

-- Leases due jobs to a worker: higher priority first, then the longest waiting. One statement for each kind and priority that
-- has jobs, because rows of one priority that are due later would otherwise be read again and again.
--
-- p_after: where the last claim of each kind and priority ended. Behind it are dead rows of finished jobs, which stay in the
-- index as long as any session holds an old snapshot (600,000 jobs: without it a drain runs at 0.35 of its speed). Jobs that
-- were enqueued or released behind it are found without it: when a claim returns fewer than asked, and once a second. p_now:
-- the time for "due"; for tests. p_begin: this many of the jobs begin at once (default: all); the others only after
-- fn_job_begin. If the worker dies, a crash is charged only to jobs that had begun. p_held: how many jobs the caller still has.
-- A suspect (a job with an earlier crash) is claimed only with 0, and then alone; see fn_job_claim_suspect. While a worker has
-- a suspect it gets nothing else for 10 seconds.
create or replace function iu_core.fn_job_claim(
  p_worker uuid, p_limit integer default 100, p_after jsonb default null, p_now timestamptz default null,
  p_begin integer default null, p_held integer default 0
) returns setof iu_core.job_queue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
-- Statistics taken while the queue was empty let the planner read all due jobs for each claim: it has to walk along the index, so
-- there is no min() below either.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
-- Before PostgreSQL 18 a method that is off makes a plan look so expensive that it would be compiled.
set jit = off
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_left integer := p_limit;
  v_found integer;
  v_line record;
  v_after_time timestamptz;
  v_after_id uuid;
  v_limited_locked boolean := false;
  v_begin integer := coalesce(p_begin, p_limit);
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 10000';
  end if;
  -- Locked until the claim is committed: a worker that is reaped meanwhile would keep its jobs for ever.
  perform from iu_core.job_worker where worker_id = p_worker and leased_until > clock_timestamp() for share;
  if not found then
    perform iu_core.fn_job_worker_require(p_worker);
  end if;
  if exists (select from iu_core.job_isolation a where a.worker_id = p_worker and a.since > clock_timestamp() - interval '10 seconds') then
    return;
  end if;
  if p_held = 0 then
    return query select * from iu_core.fn_job_claim_suspect(w, v_now);
    if found then
      return;
    end if;
  end if;
  for v_line in
    with recursive line as (
      select k.job_kind, k.limited,
             (select q.urgency from iu_core.job_queue q where q.job_kind = k.job_kind and q.executor = w.executor
               order by q.urgency limit 1)::integer as urgency
        from unnest(w.kinds) o join iu_core.job_kind k on k.job_kind = o
       where k.paused_at is null and (k.limited or p_after -> k.job_kind is null)
      union all
      select l.job_kind, l.limited,
             (select q.urgency from iu_core.job_queue q
               where q.job_kind = l.job_kind and q.executor = w.executor and q.urgency > l.urgency
               order by q.urgency limit 1)::integer
        from line l where l.urgency is not null
    ), known as (
      -- Looking for the priorities of a kind walks over the same dead rows: those under a cursor are taken as they are,
      select k.job_kind, -c.priority::integer as urgency
        from unnest(w.kinds) o join iu_core.job_kind k on k.job_kind = o, jsonb_object_keys(p_after -> k.job_kind) c (priority)
       where k.paused_at is null and not k.limited
    ), above as (
      -- and only one that is higher than all of them is looked for.
      select n.job_kind, (select q.urgency from iu_core.job_queue q
                           where q.job_kind = n.job_kind and q.executor = w.executor and q.urgency < n.highest
                           order by q.urgency limit 1)::integer as urgency
        from (select job_kind, min(urgency) as highest from known group by job_kind) n
    )
    -- Kinds of one priority take turns, so that a busy kind does not starve the others.
    select l.job_kind, l.limited, l.urgency
      from (select * from line
            union all select job_kind, false, urgency from known
            union all select job_kind, false, urgency from above) l
     where l.urgency is not null order by l.urgency, random()
  loop
    if v_line.limited then
      -- All of them in one order before the first: kinds take turns by chance, and two claims would wait for each other.
      if not v_limited_locked then
        perform from iu_core.job_kind k where k.job_kind = any (w.kinds) and k.limited order by k.job_kind for no key update;
        v_limited_locked := true;
      end if;
      return query select * from iu_core.fn_job_claim_limited(w, v_line.job_kind, v_line.urgency::smallint, v_left, v_now, v_begin, false);
    else
      v_after_time := coalesce((p_after #>> array[v_line.job_kind, (-v_line.urgency)::text, 'process_after'])::timestamptz, '-infinity');
      v_after_id := coalesce((p_after #>> array[v_line.job_kind, (-v_line.urgency)::text, 'job_id'])::uuid, '00000000-0000-0000-0000-000000000000');
      -- No join: of a queue that was empty when its statistics were taken the planner expects so little that it may begin the join with the
      -- queue, and each claim reads all of it.
      return query
        with due as materialized (
          select q.job_id, q.process_after from iu_core.job_queue q
           where q.job_kind = v_line.job_kind and q.executor = w.executor and q.urgency = v_line.urgency
             and (q.process_after, q.job_id) > (v_after_time, v_after_id) and q.process_after <= v_now
             and q.leased_by is null and q.crashes = 0
           order by q.process_after, q.job_id limit v_left
             for update skip locked
        ), claimed as (
          update iu_core.job_queue q
             set leased_by = p_worker, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = v_now,
                 -- The first v_begin of them, or all.
                 begun = v_begin > 0 and coalesce((q.process_after, q.job_id) <= (
                   select d.process_after, d.job_id from due d offset greatest(v_begin, 1) - 1 limit 1), true)
           where q.job_id = any (array(select d.job_id from due d))
          returning q.*
        )
        select * from claimed c order by c.process_after, c.job_id;
    end if;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    v_begin := v_begin - v_found;
    exit when v_left <= 0;
  end loop;
end $$;

grant execute on function iu_core.fn_job_claim(uuid, integer, jsonb, timestamptz, integer, integer) to dot_executor, service_role, stagedoor_executor;

-- Leases those of these jobs that are due and that a worker without other jobs may claim now; for a worker that was told of them, and
-- that begins all of them at once. Kinds that are paused or have a limit are claimed by fn_job_claim alone, and so are suspects.
create or replace function iu_core.fn_job_claim_by_id(p_worker uuid, p_jobs uuid[]) returns setof iu_core.job_queue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
  v_now timestamptz := clock_timestamp();
begin
  -- Locked as in fn_job_claim.
  perform from iu_core.job_worker where worker_id = p_worker and leased_until > clock_timestamp() for share;
  if not found then
    perform iu_core.fn_job_worker_require(p_worker);
  end if;
  return query
    update iu_core.job_queue q
       set leased_by = p_worker, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = v_now, begun = true
     where q.job_id = any (array(
       -- Each by its id alone: the index of claims fits the other conditions, and behind it are all jobs of the kind.
       select c.job_id from unnest(p_jobs) j (job_id)
        cross join lateral (select n.executor, n.job_kind from iu_core.job_queue n where n.job_id = j.job_id offset 0) n
         join iu_core.job_kind k on k.job_kind = n.job_kind
        cross join lateral (
          select c.job_id from iu_core.job_queue c
           where c.job_id = j.job_id and c.process_after <= v_now and c.leased_by is null and c.crashes = 0
             for update skip locked) c
        where n.executor = w.executor and n.job_kind = any (w.kinds) and not k.limited and k.paused_at is null
          and not exists (select from iu_core.job_isolation a
                           where a.worker_id = p_worker and a.since > clock_timestamp() - interval '10 seconds')))
    returning q.*;
end $$;

grant execute on function iu_core.fn_job_claim_by_id(uuid, uuid[]) to dot_executor, service_role;

-- Leases one suspect (a job with an earlier crash) and no other job: if it ends its next worker too, no other job is affected.
--
-- A worker has one suspect at a time, so that an innocent one is charged at most once with the crash of another. A job with one
-- crash may have been affected by chance (a machine that failed): after 10 seconds of running it no longer keeps its worker
-- from a second one, or the long jobs of that machine would run one after the other. Internal.
create or replace function iu_core.fn_job_claim_suspect(p_worker iu_core.job_worker, p_now timestamptz)
returns setof iu_core.job_queue
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_line record;
  v_job iu_core.job_queue;
  v_limited_locked boolean := false;
begin
  if not exists (select from unnest(p_worker.kinds) o
                   join iu_core.job_queue q on q.job_kind = o and q.executor = p_worker.executor and q.crashes > 0
                  where q.process_after <= p_now and q.leased_by is null) then
    return;
  end if;
  -- Two claims of one worker at once: one of them.
  if not pg_try_advisory_xact_lock(hashtextextended('stagedoor.job_isolation ' || p_worker.worker_id, 0)) then
    return;
  end if;
  if exists (select from iu_core.job_isolation a join iu_core.job_queue q on q.job_id = a.job_id join iu_core.job_kind k on k.job_kind = q.job_kind
              where a.worker_id = p_worker.worker_id
                and (a.crashes > 1 or k.max_crashes < 3 or a.since > clock_timestamp() - interval '10 seconds')) then
    return;
  end if;
  for v_line in
    select q.job_kind, q.urgency, k.limited
      from unnest(p_worker.kinds) o
      join iu_core.job_kind k on k.job_kind = o
      join iu_core.job_queue q on q.job_kind = o and q.executor = p_worker.executor and q.crashes > 0
     where k.paused_at is null and q.process_after <= p_now and q.leased_by is null
     group by q.job_kind, q.urgency, k.limited order by q.urgency, min(q.process_after)
  loop
    if v_line.limited then
      if not v_limited_locked then
        perform from iu_core.job_kind k where k.job_kind = any (p_worker.kinds) and k.limited order by k.job_kind for no key update;
        v_limited_locked := true;
      end if;
      select * into v_job from iu_core.fn_job_claim_limited(p_worker, v_line.job_kind, v_line.urgency, 1, p_now, 1, true);
    else
      update iu_core.job_queue q
         set leased_by = p_worker.worker_id, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = p_now, begun = true
       where q.job_id = (select s.job_id from iu_core.job_queue s
                          where s.job_kind = v_line.job_kind and s.executor = p_worker.executor and s.urgency = v_line.urgency
                            and s.crashes > 0 and s.process_after <= p_now and s.leased_by is null
                          order by s.process_after limit 1 for update skip locked)
      returning q.* into v_job;
    end if;
    if v_job.job_id is not null then
      insert into iu_core.job_isolation as a (worker_id, job_id, crashes) values (p_worker.worker_id, v_job.job_id, v_job.crashes)
      on conflict (worker_id) do update set job_id = excluded.job_id, crashes = excluded.crashes, since = excluded.since;
      return next v_job;
      return;
    end if;
  end loop;
end $$;

-- Claims jobs of a kind with a limit: concurrency, rate, one at a time for a key, or keys in turns. Claims of one kind are
-- serialized, because the free places are counted. p_suspects: claim jobs with an earlier crash, else only the others.
-- Internal.
create or replace function iu_core.fn_job_claim_limited(
  p_worker iu_core.job_worker, p_kind text, p_urgency smallint, p_limit integer, p_now timestamptz,
  p_begin integer, p_suspects boolean
) returns setof iu_core.job_queue
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k iu_core.job_kind;
  v_free integer := p_limit;
  v_window integer;
  v_tokens double precision;
  v_ids uuid[];
  v_locked uuid[];
begin
  -- Locked already, with the other kinds of this claim.
  select * into k from iu_core.job_kind where job_kind = p_kind for no key update;
  if k.paused_at is not null then
    return;
  end if;
  if k.concurrency is not null then
    v_free := least(v_free, k.concurrency - (select count(*)::integer from iu_core.job_running r where r.job_kind = p_kind));
  end if;
  if k.rate is not null then
    -- A bucket that refills evenly, and is never fuller than one period's worth.
    insert into iu_core.job_rate (job_kind, tokens, refilled_at) values (p_kind, k.rate, p_now) on conflict do nothing;
    update iu_core.job_rate r
       set tokens = least(k.rate, r.tokens + k.rate * greatest(0, extract(epoch from p_now - r.refilled_at)) / extract(epoch from k.rate_period)),
           refilled_at = greatest(r.refilled_at, p_now)
     where r.job_kind = p_kind
    returning r.tokens into v_tokens;
    v_free := least(v_free, floor(v_tokens)::integer);
  end if;
  if v_free <= 0 then
    return;
  end if;
  v_window := greatest(1000, 10 * v_free);
  with recursive keys as (
    -- Keys with a turn, one step in the index each. Beyond the first thousand they wait until they are among the oldest.
    (select q.fair_key, 1 as position from iu_core.job_queue q
      where k.fair_by is not null and q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency
        and q.fair_key is not null
      order by q.fair_key limit 1)
    union all
    select (select q.fair_key from iu_core.job_queue q
             where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency and q.fair_key > y.fair_key
             order by q.fair_key limit 1), y.position + 1
      from keys y where y.fair_key is not null and y.position < 1000
  ), due as (
    -- The oldest of all, a window: later jobs are claimed when these have started.
    (select q.job_id, q.process_after, q.source_ref, q.target_ref, q.payload_ref
       from iu_core.job_queue q
      where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency
        and q.process_after <= p_now and q.leased_by is null and (q.crashes > 0) = p_suspects
        and not exists (select from iu_core.job_running r
                         where k.serial_by is not null and r.job_kind = p_kind
                           and r.serial_key = case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end)
      order by q.process_after, q.job_id limit v_window)
    union
    -- And the oldest of each key, or one key with many jobs would fill the window.
    select h.*
      from keys y, lateral (
        select q.job_id, q.process_after, q.source_ref, q.target_ref, q.payload_ref
          from iu_core.job_queue q
         where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency and q.fair_key = y.fair_key
           and q.process_after <= p_now and q.leased_by is null and (q.crashes > 0) = p_suspects
           and not exists (select from iu_core.job_running r
                            where k.serial_by is not null and r.job_kind = p_kind
                              and r.serial_key = case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end)
         order by q.process_after, q.job_id
         limit (select least(v_free, 1 + v_window / count(*)) from keys)) h
     where y.fair_key is not null
  ), waiting as materialized (
    select d.job_id, d.process_after,
           case k.serial_by when 'source_ref' then d.source_ref when 'target_ref' then d.target_ref when 'payload_ref' then d.payload_ref end as serial_key,
           iu_core.fn_job_fair_key(k.fair_by, d.source_ref, d.target_ref, d.payload_ref) as fair_key
      from due d
  ), first_of_key as (
    select w.*, row_number() over (partition by coalesce(w.serial_key, w.job_id::text) order by w.process_after, w.job_id) as turn_in_serial,
           row_number() over (partition by w.fair_key order by w.process_after, w.job_id)
             + (select count(*) from iu_core.job_running r where r.job_kind = p_kind and r.fair_key = w.fair_key) as turn
      from waiting w
  ), chosen as (
    select f.job_id from first_of_key f where f.turn_in_serial = 1
     order by case when k.fair_by is null then 0 else f.turn end, f.process_after, f.job_id limit v_free
  )
  select array_agg(c.job_id) into v_ids from chosen c;
  if v_ids is null then
    return;
  end if;
  -- As in fn_job_claim: no join with the queue.
  v_locked := array(select q.job_id from iu_core.job_queue q where q.job_id = any (v_ids) and q.leased_by is null for update skip locked);
  if cardinality(v_locked) < cardinality(v_ids) then
    v_ids := array(select c.job_id from unnest(v_ids) with ordinality c (job_id, turn) where c.job_id = any (v_locked) order by c.turn);
  end if;
  if v_ids = '{}' then
    return;
  end if;
  if k.rate is not null then
    update iu_core.job_rate r set tokens = r.tokens - cardinality(v_ids) where r.job_kind = p_kind;
  end if;
  -- The unique index over the serial key decides.
  insert into iu_core.job_running (job_id, job_kind, worker_id, serial_key, fair_key)
  select q.job_id, p_kind, p_worker.worker_id,
         case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end,
         iu_core.fn_job_fair_key(k.fair_by, q.source_ref, q.target_ref, q.payload_ref)
    from iu_core.job_queue q where q.job_id = any (v_ids);
  return query
    with claimed as (
      update iu_core.job_queue q
         set leased_by = p_worker.worker_id, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = p_now,
             begun = q.job_id = any (v_ids[1:p_begin])
       where q.job_id = any (v_ids)
      returning q.*
    )
    select * from claimed c order by array_position(v_ids, c.job_id);
end $$;

-- Whether a job with an earlier crash waits for a worker like this one. A busy worker asks from time to time, and then finishes
-- its jobs for it.
create or replace function iu_core.fn_job_suspect_due(p_worker uuid) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  return exists (select from unnest(w.kinds) o
                   join iu_core.job_kind k on k.job_kind = o
                   join iu_core.job_queue q on q.job_kind = o and q.executor = w.executor and q.crashes > 0
                  where k.paused_at is null and q.process_after <= clock_timestamp() and q.leased_by is null);
end $$;

grant execute on function iu_core.fn_job_suspect_due(uuid) to dot_executor, service_role, stagedoor_executor;

-- A worker begins jobs that it prefetched: from now on a crash is charged to them. Called before the handler runs. Returns the
-- jobs that it may begin: still leased to it, under that epoch.
create or replace function iu_core.fn_job_begin(p_worker uuid, p_jobs uuid[], p_epochs integer[]) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  return query
    update iu_core.job_queue q set begun = true
      from unnest(p_jobs, p_epochs) d (job_id, epoch)
     where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch and q.job_id = any (p_jobs)
    returning q.job_id;
end $$;

grant execute on function iu_core.fn_job_begin(uuid, uuid[], integer[]) to dot_executor, service_role, stagedoor_executor;

-- Milliseconds until the next waiting job of these kinds is due: 0 if one is, null if none waits. What an idle worker asks. A due job
-- may still be out of reach, because its kind has a limit or it waits for a worker that has no other job.
create or replace function iu_core.fn_job_due_in(p_kinds text[], p_executor text) returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
-- As in fn_job_claim.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
  with recursive line as (
    select k.job_kind,
           (select q.urgency from iu_core.job_queue q where q.job_kind = k.job_kind and q.executor = p_executor
             order by q.urgency limit 1)::integer as urgency
      from iu_core.job_kind k where k.job_kind = any (p_kinds) and k.paused_at is null
    union all
    select l.job_kind, (select q.urgency from iu_core.job_queue q
                         where q.job_kind = l.job_kind and q.executor = p_executor and q.urgency > l.urgency
                         order by q.urgency limit 1)::integer
      from line l where l.urgency is not null
  )
  -- greatest() takes no notice of a null.
  select case when min(n.process_after) is not null then
           least(greatest(ceil(extract(epoch from min(n.process_after) - clock_timestamp()) * 1000), 0), 86400000)::integer end
    from line l cross join lateral (
      select q.process_after from iu_core.job_queue q
       where q.job_kind = l.job_kind and q.executor = p_executor and q.urgency = l.urgency and q.leased_by is null
       order by q.process_after limit 1) n
$$;

grant execute on function iu_core.fn_job_due_in(text[], text) to dot_executor, service_role;
