-- Outcomes of claimed jobs: completed, failed, snoozed, released.

-- Completes jobs: moves them from the queue to the history, in one statement. Only jobs whose lease is still the claimed one
-- count; jobs that another worker has or had are left unchanged and are not in the result.
create or replace function iu_core.fn_job_complete(
  p_worker uuid, p_jobs uuid[], p_epochs integer[], p_results jsonb[] default null
) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- The planner expects ten jobs: 500 of them compared with each other take 20 ms. And for a merge it may read the whole queue in order.
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  v_reason text;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_results));
  if p_results is not null then
    select iu_core.fn_payload_problem(r) into v_reason from unnest(p_results) r
     where r is not null and iu_core.fn_payload_problem(r) is not null limit 1;
    if v_reason is not null then
      raise exception using
        errcode = 'SD705',
        message = 'The result of a job carries references only, but ' || v_reason,
        detail = json_build_object('kind', null, 'reason', v_reason)::text;
    end if;
  end if;
  return query
    with done as (
      delete from iu_core.job_queue q
       using unnest(p_jobs, p_epochs, p_results) d (job_id, epoch, result)
       where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch
         -- A plan made while the queue was empty would begin with the queue and read all of it.
         and q.job_id = any (p_jobs)
      returning q.*, d.result
    )
    insert into iu_core.job_history (
      job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id,
      idempotency_key, source_ref, target_ref, payload_ref, safe_payload, result, workspace_id, correlation_id,
      causation_event_id, causation_depth, actor, actor_via, last_error, attempt_errors)
    select d.job_id, d.job_kind, d.executor, 'completed', d.priority, d.attempts, d.crashes, d.replays, d.enqueued_at, d.started_at,
           p_worker, d.idempotency_key, d.source_ref, d.target_ref, d.payload_ref, d.safe_payload, d.result, d.workspace_id,
           d.correlation_id, d.causation_event_id, d.causation_depth, d.actor, d.actor_via, d.last_error,
           d.attempt_errors
      from done d
    returning job_id;
  perform iu_core.fn_job_release_slots(p_worker, p_jobs);
end $$;

grant execute on function iu_core.fn_job_complete(uuid, uuid[], integer[], jsonb[]) to dot_executor, service_role, stagedoor_executor;

-- Fails jobs: they are retried later, with a doubling, randomised delay. After the last attempt, or if the worker says that a
-- retry is useless, they become dead letters. A job with a cancel request is cancelled.
create or replace function iu_core.fn_job_fail(
  p_worker uuid, p_jobs uuid[], p_epochs integer[], p_errors text[], p_fatal boolean[] default null
) returns table (job_id uuid, outcome text, process_after timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_errors));
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs, cardinality(p_fatal));
  return query
    select e.job_id, e.outcome, e.process_after from iu_core.fn_job_end_attempt(
      array(select row(q.job_id, coalesce(nullif(left(d.error, 2000), ''), 'it failed'), coalesce(d.fatal, false), false)::iu_core.job_failure
              from unnest(p_jobs, p_epochs, p_errors, p_fatal) d (job_id, epoch, error, fatal)
              join iu_core.job_queue q on q.job_id = d.job_id
             where q.leased_by = p_worker and q.lease_epoch = d.epoch and q.job_id = any (p_jobs)
             order by q.job_id for update of q)) e;
  perform iu_core.fn_job_release_slots(p_worker, p_jobs);
end $$;

grant execute on function iu_core.fn_job_fail(uuid, uuid[], integer[], text[], boolean[]) to dot_executor, service_role, stagedoor_executor;

-- Snoozes a job until p_until, without using an attempt.
create or replace function iu_core.fn_job_snooze(p_worker uuid, p_job uuid, p_epoch integer, p_until timestamptz) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found boolean;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  if p_until is null or not isfinite(p_until) then
    raise exception using errcode = 'SD001', message = 'p_until is missing: the time until which the job is snoozed';
  end if;
  update iu_core.job_queue set leased_by = null, begun = false, attempts = attempts - 1, process_after = p_until
   where job_id = p_job and leased_by = p_worker and lease_epoch = p_epoch;
  v_found := found;
  perform iu_core.fn_job_release_slots(p_worker, array[p_job]);
  return v_found;
end $$;

grant execute on function iu_core.fn_job_snooze(uuid, uuid, integer, timestamptz) to dot_executor, service_role, stagedoor_executor;

-- Releases jobs that were claimed and not begun, at once and without using an attempt. Returns how many.
create or replace function iu_core.fn_job_release(p_worker uuid, p_jobs uuid[], p_epochs integer[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  v_given integer;
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform iu_core.fn_job_arrays_check(p_jobs, p_epochs);
  update iu_core.job_queue q set leased_by = null, begun = false, attempts = q.attempts - 1
    from unnest(p_jobs, p_epochs) d (job_id, epoch)
   where q.job_id = d.job_id and q.leased_by = p_worker and q.lease_epoch = d.epoch and q.job_id = any (p_jobs);
  get diagnostics v_given = row_count;
  perform iu_core.fn_job_release_slots(p_worker, p_jobs);
  return v_given;
end $$;

grant execute on function iu_core.fn_job_release(uuid, uuid[], integer[]) to dot_executor, service_role, stagedoor_executor;

-- Which of these jobs this worker has completed: distinguishes a lost response from a job that is not its own.
create or replace function iu_core.fn_job_completed_by(p_worker uuid, p_jobs uuid[]) returns setof uuid
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  return query
    select h.job_id from iu_core.job_history h
     where h.job_id = any (p_jobs) and h.worker_id = p_worker and h.outcome = 'completed';
end $$;

grant execute on function iu_core.fn_job_completed_by(uuid, uuid[]) to dot_executor, service_role, stagedoor_executor;

-- Decides about jobs whose attempt failed; their rows are locked. A crash of the worker uses no attempt, because all begun jobs
-- would pay for one of them; but a job under which worker after worker dies is not retried for ever. In both cases the delay
-- doubles. Internal.
create or replace function iu_core.fn_job_end_attempt(p_failures iu_core.job_failure[])
returns table (job_id uuid, outcome text, process_after timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  -- The update and the delete name them, so that no plan begins with the queue and reads all of it.
  v_jobs uuid[] := array(select f.job_id from unnest(p_failures) f);
begin
  return query
    with ended as materialized (
      select found.job as job_row, f.error, f.crashed, c.requested_by, c.reason,
             q.attempts - f.crashed::integer as attempts, q.crashes + f.crashed::integer as crashes,
             case when c.job_id is not null then 'cancelled'
                  when f.fatal or not f.crashed and q.attempts >= k.max_attempts
                    or f.crashed and q.crashes + 1 >= k.max_crashes then 'dead'
                  else 'retry' end as outcome,
             iu_core.fn_job_attempt_errors(found.job, f) as attempt_errors,
             clock_timestamp() + least(k.max_backoff, k.backoff * power(2, least(case when f.crashed then q.crashes else q.attempts - 1 end, 29)))
               * (0.75 + random() / 2) as again
        from unnest(p_failures) as f
       cross join lateral (select q as job from iu_core.job_queue q where q.job_id = f.job_id offset 0) found
       cross join lateral (select (found.job).*) q
        join iu_core.job_kind k on k.job_kind = q.job_kind
        left join iu_core.job_cancellation c on c.job_id = q.job_id and c.worker_id = q.leased_by
    ), retried as (
      update iu_core.job_queue q
         set leased_by = null, begun = false, last_error = e.error, attempt_errors = e.attempt_errors,
             attempts = e.attempts, crashes = e.crashes, process_after = e.again
        from ended e where e.outcome = 'retry' and q.job_id = (e.job_row).job_id and q.job_id = any (v_jobs)
      returning q.job_id, q.process_after
    ), removed as (
      delete from iu_core.job_queue q using ended e
       where e.outcome <> 'retry' and q.job_id = (e.job_row).job_id and q.job_id = any (v_jobs) returning q.job_id
    ), dead_lettered as (
      insert into iu_core.job_dead_letter (
        job_id, job_kind, executor, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id, idempotency_key,
        source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth,
        actor, actor_via, last_error, attempt_errors)
      select (e.job_row).job_id, (e.job_row).job_kind, (e.job_row).executor, (e.job_row).priority, e.attempts,
             e.crashes, (e.job_row).replays, (e.job_row).enqueued_at, (e.job_row).started_at,
             (e.job_row).leased_by, (e.job_row).idempotency_key, (e.job_row).source_ref, (e.job_row).target_ref, (e.job_row).payload_ref, (e.job_row).safe_payload,
             (e.job_row).workspace_id, (e.job_row).correlation_id, (e.job_row).causation_event_id, (e.job_row).causation_depth, (e.job_row).actor,
             (e.job_row).actor_via, e.error, e.attempt_errors
        from ended e where e.outcome = 'dead'
    ), cancelled as (
      insert into iu_core.job_history (
        job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, worker_id,
        idempotency_key, source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id,
        causation_event_id, causation_depth, actor, actor_via, last_error, ended_by, attempt_errors)
      select (e.job_row).job_id, (e.job_row).job_kind, (e.job_row).executor, 'cancelled', (e.job_row).priority, e.attempts, e.crashes,
             (e.job_row).replays, (e.job_row).enqueued_at, (e.job_row).started_at, (e.job_row).leased_by, (e.job_row).idempotency_key, (e.job_row).source_ref,
             (e.job_row).target_ref, (e.job_row).payload_ref, (e.job_row).safe_payload, (e.job_row).workspace_id, (e.job_row).correlation_id,
             (e.job_row).causation_event_id, (e.job_row).causation_depth, (e.job_row).actor, (e.job_row).actor_via, coalesce(e.reason, e.error), e.requested_by,
             e.attempt_errors
        from ended e where e.outcome = 'cancelled'
    )
    select (e.job_row).job_id, e.outcome, r.process_after from ended e left join retried r on r.job_id = (e.job_row).job_id;
end $$;

-- The errors of a job with that of the attempt that failed now: the last twenty, each up to 2000 characters. After a replay
-- attempts count from 1 again, so each error says after how many replays it was. Internal.
create or replace function iu_core.fn_job_attempt_errors(p_job iu_core.job_queue, p_failure iu_core.job_failure) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when jsonb_array_length(p_job.attempt_errors) >= 20 then p_job.attempt_errors - 0
              else coalesce(p_job.attempt_errors, '[]') end
         || jsonb_build_array(jsonb_build_object(
              'attempt', p_job.attempts, 'replay', p_job.replays, 'crashed', p_failure.crashed, 'error', left(p_failure.error, 2000),
              'worker_id', p_job.leased_by, 'started_at', p_job.started_at, 'failed_at', clock_timestamp()))
$$;

-- Frees the limit slots of jobs that a worker no longer has, and ends the hold of a suspect on its worker. Ends released jobs
-- that have a cancel request. Usually there is nothing to do: only kinds with a limit are counted. Internal.
create or replace function iu_core.fn_job_release_slots(p_worker uuid, p_jobs uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from iu_core.job_running where worker_id = p_worker) then
    delete from iu_core.job_running r
     where r.worker_id = p_worker and r.job_id = any (p_jobs)
       and not exists (select from iu_core.job_queue q where q.job_id = r.job_id and q.leased_by = p_worker);
  end if;
  if exists (select from iu_core.job_isolation where worker_id = p_worker) then
    delete from iu_core.job_isolation a
     where a.worker_id = p_worker and a.job_id = any (p_jobs)
       and not exists (select from iu_core.job_queue q where q.job_id = a.job_id and q.leased_by = p_worker);
  end if;
  if exists (select from iu_core.job_cancellation where worker_id = p_worker) then
    perform iu_core.fn_job_cancel_waiting(c.job_id, c.requested_by, c.reason)
       from iu_core.job_cancellation c where c.worker_id = p_worker and c.job_id = any (p_jobs);
    delete from iu_core.job_cancellation c
     where c.worker_id = p_worker and c.job_id = any (p_jobs)
       and not exists (select from iu_core.job_queue q where q.job_id = c.job_id and q.leased_by = p_worker);
  end if;
end $$;

-- Raises unless parallel arrays have the same length and no id occurs twice. Internal.
create or replace function iu_core.fn_job_arrays_check(p_jobs uuid[], p_epochs integer[], p_others integer default null) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_jobs is null or p_epochs is null or cardinality(p_jobs) <> cardinality(p_epochs)
     or p_others is not null and p_others <> cardinality(p_jobs) then
    raise exception using errcode = 'SD001', message = 'The arrays of jobs, epochs and outcomes must have the same length';
  end if;
  if exists (select from unnest(p_jobs) j group by j having count(*) > 1) then
    raise exception using errcode = 'SD001', message = 'A job occurs more than once in the array';
  end if;
end $$;
