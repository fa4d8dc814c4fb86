-- Leases due jobs to a worker: higher priority first, then the one that waits longest. One statement for each kind and
-- priority that has any, because rows of one priority that are due later would otherwise be read over and over.
--
-- p_after: where the last claim of each kind and priority ended. Behind it lie the dead rows of finished jobs, which stay
-- in the index as long as anybody holds an old snapshot (600,000 jobs: a drain at 0.35 of its speed without).
-- What was enqueued or given back behind it is found without: when a claim comes up short, and once a second.
-- p_now: due as of then; for tests.
-- p_begin: so many of them begin without another word (default: all); the others only after fn_job_begin. If the worker dies,
-- those are charged with the crash, the others are not.
-- p_held: how many jobs the caller still has in hand. A suspect (a job with a crash behind it) is claimed only with 0, and then
-- it is the only one; see fn_job_claim_suspect. While a worker has one in hand it gets nothing else for 10 seconds.
create or replace function iu_core.fn_job_claim(
  p_worker uuid, p_limit integer default 100, p_after jsonb default null, p_now timestamptz default null,
  p_begin integer default null, p_held integer default 0
) returns setof iu_core.job_queue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
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
  -- Held until the claim is committed: reaped meanwhile, its jobs would be with a worker that nobody looks for any more.
  perform from iu_core.job_worker where worker_id = p_worker and leased_until > clock_timestamp() for share;
  if not found then
    perform iu_core.fn_job_worker_require(p_worker);
  end if;
  if exists (select from iu_core.job_alone a where a.worker_id = p_worker and a.since > clock_timestamp() - interval '10 seconds') then
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
             (select min(q.urgency) from iu_core.job_queue q where q.job_kind = k.job_kind and q.executor = w.executor)::integer as urgency
        from unnest(w.kinds) o join iu_core.job_kind k on k.job_kind = o
       where k.paused_at is null and (k.limited or p_after -> k.job_kind is null)
      union all
      select l.job_kind, l.limited,
             (select min(q.urgency) from iu_core.job_queue q
               where q.job_kind = l.job_kind and q.executor = w.executor and q.urgency > l.urgency)::integer
        from line l where l.urgency is not null
    ), known as (
      -- Looking for the priorities of a kind walks over the same dead rows: those under a cursor are taken as they are,
      select k.job_kind, -c.priority::integer as urgency
        from unnest(w.kinds) o join iu_core.job_kind k on k.job_kind = o, jsonb_object_keys(p_after -> k.job_kind) c (priority)
       where k.paused_at is null and not k.limited
    ), above as (
      -- and only one that is higher than all of them is looked for.
      select n.job_kind, (select min(q.urgency) from iu_core.job_queue q
                           where q.job_kind = n.job_kind and q.executor = w.executor and q.urgency < n.highest)::integer as urgency
        from (select job_kind, min(urgency) as highest from known group by job_kind) n
    )
    -- Kinds of one priority take turns, so that one that never ends does not starve the others.
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
      return query
        with due as materialized (
          select q.job_id from iu_core.job_queue q
           where q.job_kind = v_line.job_kind and q.executor = w.executor and q.urgency = v_line.urgency
             and (q.process_after, q.job_id) > (v_after_time, v_after_id) and q.process_after <= v_now
             and q.leased_by is null and q.crashes = 0
           order by q.process_after, q.job_id limit v_left
             for update skip locked
        ), numbered as (
          select due.job_id, row_number() over () as turn from due
        )
        update iu_core.job_queue q
           set leased_by = p_worker, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = v_now,
               begun = d.turn <= v_begin
          from numbered d where q.job_id = d.job_id
        returning q.*;
    end if;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    v_begin := v_begin - v_found;
    exit when v_left <= 0;
  end loop;
end $$;

grant execute on function iu_core.fn_job_claim(uuid, integer, jsonb, timestamptz, integer, integer) to dot_executor, service_role, stagedoor_executor;
