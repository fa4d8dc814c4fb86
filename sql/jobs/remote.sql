-- Remote workers: jobs that move from one gateway to another, crashes of single workers behind a gateway, and the list for people.

-- Moves jobs from one worker to another without a new attempt: the process that runs their handlers has lost its gateway and found this
-- one. Only jobs that p_from still leases under that epoch are moved, or that this function has moved before (its answer was lost). The
-- epoch stays, so a report of either counts once. Returns the jobs that are p_to's now; the handlers of the others must stop.
--
-- The locks settle who is first: the reaper skips a worker whose jobs are being moved, and where it was first there is nothing to move.
create or replace function iu_core.fn_job_adopt(p_from uuid, p_to uuid, p_jobs uuid[], p_epochs integer[])
returns setof iu_core.job_queue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_to);
  v_jobs uuid[];
begin
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  -- Locked until the commit: a worker that is reaped meanwhile would keep its jobs for ever.
  perform from iu_core.job_worker where worker_id in (p_from, p_to) order by worker_id for share;
  if not exists (select from iu_core.job_worker where worker_id = p_to and leased_until > clock_timestamp()) then
    perform iu_core.fn_job_worker_require(p_to);
  end if;
  v_jobs := array(
    select q.job_id from iu_core.job_queue q join unnest(p_jobs, p_epochs) d (job_id, epoch) on q.job_id = d.job_id
     where q.job_id = any (p_jobs) and q.leased_by in (p_from, p_to) and q.lease_epoch = d.epoch and q.executor = w.executor and q.job_kind = any (w.kinds)
     order by q.job_id for update of q);
  if cardinality(v_jobs) = 0 then
    return;
  end if;
  update iu_core.job_running r set worker_id = p_to where r.worker_id = p_from and r.job_id = any (v_jobs);
  update iu_core.job_cancellation c set worker_id = p_to where c.worker_id = p_from and c.job_id = any (v_jobs);
  -- A worker isolates one suspect. A second one is isolated no longer.
  update iu_core.job_isolation a set worker_id = p_to
   where a.worker_id = p_from and a.job_id = any (v_jobs)
     and not exists (select from iu_core.job_isolation o where o.worker_id = p_to);
  delete from iu_core.job_isolation a where a.worker_id = p_from and a.worker_id <> p_to and a.job_id = any (v_jobs);
  return query
    update iu_core.job_queue q set leased_by = p_to where q.job_id = any (v_jobs) returning q.*;
end $$;

grant execute on function iu_core.fn_job_adopt(uuid, uuid, uuid[], integer[]) to dot_executor, service_role;

-- Ends the attempts of jobs whose remote worker died, as the reaper does for a whole worker: a crash is charged to those that had begun,
-- the others are as before the claim. Returns what became of those that had begun.
create or replace function iu_core.fn_job_crash(p_worker uuid, p_jobs uuid[], p_epochs integer[], p_error text)
returns table (job_id uuid, outcome text, process_after timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_jobs uuid[];
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  v_jobs := array(
    select q.job_id from iu_core.job_queue q join unnest(p_jobs, p_epochs) d (job_id, epoch) on q.job_id = d.job_id
     where q.job_id = any (p_jobs) and q.leased_by = p_worker and q.lease_epoch = d.epoch order by q.job_id for update of q);
  update iu_core.job_queue q set leased_by = null, begun = false, attempts = q.attempts - 1
   where q.job_id = any (v_jobs) and not q.begun;
  return query
    select e.job_id, e.outcome, e.process_after from iu_core.fn_job_end_attempt(array(
      select row(q.job_id, coalesce(nullif(left(p_error, 2000), ''), 'its worker crashed'), false, true)::iu_core.job_failure
        from iu_core.job_queue q where q.job_id = any (v_jobs) and q.begun)) e;
  perform iu_core.fn_job_release_slots(p_worker, v_jobs);
end $$;

grant execute on function iu_core.fn_job_crash(uuid, uuid[], integer[], text) to dot_executor, service_role;

-- Claims one suspect (a job with an earlier crash), or nothing. For a worker that runs nothing else, beside one that runs all the others.
create or replace function iu_core.fn_job_claim_suspects(p_worker uuid) returns setof iu_core.job_queue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  -- As in fn_job_claim.
  perform from iu_core.job_worker where worker_id = p_worker and leased_until > clock_timestamp() for share;
  if not found then
    perform iu_core.fn_job_worker_require(p_worker);
  end if;
  return query select * from iu_core.fn_job_claim_suspect(w, clock_timestamp());
end $$;

grant execute on function iu_core.fn_job_claim_suspects(uuid) to dot_executor, service_role;

-- Milliseconds until the next suspect of these kinds is due: 0 if one is, null if none waits.
create or replace function iu_core.fn_job_suspect_due_in(p_kinds text[], p_executor text) returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
  select case when min(q.process_after) is not null then
           least(greatest(ceil(extract(epoch from min(q.process_after) - clock_timestamp()) * 1000), 0), 86400000)::integer end
    from unnest(p_kinds) o
    join iu_core.job_kind k on k.job_kind = o
    join iu_core.job_queue q on q.job_kind = o and q.executor = p_executor and q.crashes > 0
   where k.paused_at is null and q.leased_by is null
$$;

grant execute on function iu_core.fn_job_suspect_due_in(text[], text) to dot_executor, service_role;

-- Replaces what a gateway has attached: p_workers is an array of objects with the columns of the table. Rows of gateways that have been
-- silent for a minute go, too.
create or replace function iu_core.fn_remote_workers_write(p_gateway uuid, p_workers jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.remote_worker as r (
    gateway_process, session, name, host, pid, version, pool, concurrency, held, oldest_call_at, attached_at, seen_at)
  select p_gateway, w.session, w.name, w.host, w.pid, w.version, w.pool, w.concurrency, w.held, w.oldest_call_at, w.attached_at,
         clock_timestamp()
    from jsonb_to_recordset(p_workers) as w (session text, name text, host text, pid integer, version text, pool text,
           concurrency integer, held integer, oldest_call_at timestamptz, attached_at timestamptz)
  on conflict (gateway_process, session) do update
     set concurrency = excluded.concurrency, held = excluded.held, oldest_call_at = excluded.oldest_call_at, seen_at = excluded.seen_at;
  delete from iu_core.remote_worker r
   where r.gateway_process = p_gateway and not exists (select from jsonb_to_recordset(p_workers) as w (session text) where w.session = r.session)
      or r.seen_at < clock_timestamp() - interval '1 minute';
end $$;

grant execute on function iu_core.fn_remote_workers_write(uuid, jsonb) to dot_executor;

-- The remote workers that are attached to living gateways. For whoever operates some workspace: a worker serves all of them, so its row
-- tells about none.
create or replace function iu_core.fn_remote_workers()
returns table (gateway_process uuid, gateway_host text, session text, name text, host text, pid integer, version text, pool text,
               concurrency integer, held integer, oldest_call_at timestamptz, attached_at timestamptz, seen_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('operate');
  return query
    select r.gateway_process, p.host, r.session, r.name, r.host, r.pid, r.version, r.pool, r.concurrency, r.held, r.oldest_call_at,
           r.attached_at, r.seen_at
      from iu_core.remote_worker r left join iu_core.process p on p.process_id = r.gateway_process
     where r.seen_at > clock_timestamp() - interval '20 seconds'
     order by r.host, r.name, r.attached_at, r.session limit 1000;
end $$;

grant execute on function iu_core.fn_remote_workers() to dot_executor, service_role, authenticated, stagedoor_reviewer;
