-- Workers: registration, heartbeat, and recovery of the jobs of a dead worker.

-- Registers a worker: it takes jobs of these kinds for one executor, as long as it renews its lease.
create or replace function iu_core.fn_job_worker_register(
  p_executor text, p_kinds text[], p_name text default null, p_lease interval default '6 seconds'
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_worker uuid;
begin
  perform iu_core.fn_job_executor_require(p_executor);
  if p_kinds is null or cardinality(p_kinds) = 0 or exists (select from unnest(p_kinds) k where k is null or k !~ '^[a-z][a-z0-9_.:-]{0,62}$') then
    raise exception using errcode = 'SD001', message = 'A worker needs the kinds that it runs: lowercase letters, digits and _.:-';
  end if;
  if p_lease is null or p_lease not between '1 second' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A lease lasts from 1 second to 1 hour';
  end if;
  -- Listed from now on, also before the first job.
  insert into iu_core.job_kind (job_kind) select distinct k from unnest(p_kinds) k order by 1 on conflict do nothing;
  insert into iu_core.job_worker (executor, kinds, name, registered_by, lease, leased_until)
  values (p_executor, p_kinds, left(p_name, 200), iu_core.fn_actor(), p_lease, clock_timestamp() + p_lease)
  returning worker_id into v_worker;
  return v_worker;
end $$;

grant execute on function iu_core.fn_job_worker_register(text, text[], text, interval) to dot_executor, service_role, stagedoor_executor;

-- Renews a worker's lease and returns which of its jobs should be cancelled. An expired lease is not renewed.
create or replace function iu_core.fn_job_heartbeat(p_worker uuid, out leased_until timestamptz, out cancelled uuid[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.fn_job_worker_require(p_worker);
  update iu_core.job_worker w set leased_until = clock_timestamp() + w.lease, heartbeat_at = clock_timestamp()
   where w.worker_id = p_worker and w.leased_until > clock_timestamp()
  returning w.leased_until into fn_job_heartbeat.leased_until;
  if not found then
    raise exception using
      errcode = 'SD703',
      message = format('The lease of the worker %s has expired', p_worker),
      detail = json_build_object('worker', p_worker)::text;
  end if;
  fn_job_heartbeat.cancelled := array(select c.job_id from iu_core.job_cancellation c where c.worker_id = p_worker);
end $$;

grant execute on function iu_core.fn_job_heartbeat(uuid) to dot_executor, service_role, stagedoor_executor;

-- The workers that are registered, and whether each still holds its lease. For whoever operates some workspace: a worker serves
-- all of them, so its row tells about none.
create or replace function iu_core.fn_job_workers()
returns table (worker_id uuid, name text, executor text, kinds text[], registered_by text, started_at timestamptz,
               heartbeat_at timestamptz, leased_until timestamptz, is_alive boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('operate');
  return query
    select w.worker_id, w.name, w.executor::text, w.kinds, w.registered_by, w.started_at, w.heartbeat_at, w.leased_until,
           w.leased_until > clock_timestamp()
      from iu_core.job_worker w order by w.started_at, w.worker_id limit 1000;
end $$;

grant execute on function iu_core.fn_job_workers() to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Marks a worker as idle or busy. An idle worker claims once more afterwards, because a job enqueued just before sent no
-- notification.
create or replace function iu_core.fn_job_worker_set_idle(p_worker uuid, p_idle boolean) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  if p_idle then
    insert into iu_core.worker_idle (worker_id, executor, kinds) values (w.worker_id, w.executor, w.kinds) on conflict do nothing;
  else
    delete from iu_core.worker_idle where worker_id = p_worker;
  end if;
end $$;

grant execute on function iu_core.fn_job_worker_set_idle(uuid, boolean) to dot_executor, service_role, stagedoor_executor;

-- Marks a worker as idle whose notifications may name a job: it claims that job with fn_job_claim_by_id.
create or replace function iu_core.fn_job_worker_await_ids(p_worker uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  insert into iu_core.worker_idle (worker_id, executor, kinds, takes_ids) values (w.worker_id, w.executor, w.kinds, true)
  on conflict do nothing;
end $$;

grant execute on function iu_core.fn_job_worker_await_ids(uuid) to dot_executor, service_role;

-- A worker whose claim waits: it is idle from now on, and learns what its server waits for.
create or replace function iu_core.fn_job_worker_wait(p_worker uuid, out executor text, out kinds text[], out lease_ms integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  perform iu_core.fn_job_worker_set_idle(p_worker, true);
  executor := w.executor;
  kinds := w.kinds;
  lease_ms := extract(epoch from w.lease) * 1000;
end $$;

grant execute on function iu_core.fn_job_worker_wait(uuid) to dot_executor, service_role, stagedoor_executor;

-- Deregisters a worker and releases its jobs. Returns how many jobs. p_crash: the worker leaves because of this error; then a
-- crash is charged to the jobs that had begun, as if it had died.
create or replace function iu_core.fn_job_worker_leave(p_worker uuid, p_crash text default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_job_worker_require(p_worker);
  perform from iu_core.job_worker where worker_id = p_worker for update;
  return iu_core.fn_job_reclaim(array[p_worker], p_crash is not null, p_crash);
end $$;

grant execute on function iu_core.fn_job_worker_leave(uuid, text) to dot_executor, service_role, stagedoor_executor;

-- Reclaims the jobs of dead workers, whose lease has expired. The first caller does it, the others return at once. Returns how
-- many jobs are free again.
create or replace function iu_core.fn_job_reap() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
begin
  if not exists (select from iu_core.job_worker where leased_until <= clock_timestamp()) then
    return 0;
  end if;
  select array_agg(l.worker_id) into v_dead
    from (select worker_id from iu_core.job_worker where leased_until <= clock_timestamp() for update skip locked) l;
  if v_dead is null then
    return 0;
  end if;
  return iu_core.fn_job_reclaim(v_dead, true);
end $$;

grant execute on function iu_core.fn_job_reap() to dot_executor, service_role;

-- Frees the jobs of workers that left or died: one read of the queue, because the lease is in no index. p_crashed: they died.
-- Then a crash is charged to the jobs that had begun, with p_error; prefetched jobs are as before the claim. Returns how many
-- jobs. Internal.
--
-- A locked job is not waited for: the lock may be a completion in the transaction of a machine that lost its power, which the
-- server notices after hours, and all other jobs would wait with it. Its worker stays, with an expired lease, until the lock is
-- released; then the job has ended, or is reclaimed.
create or replace function iu_core.fn_job_reclaim(
  p_workers uuid[], p_crashed boolean, p_error text default 'its worker stopped without notice'
) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held uuid[] := array(select q.job_id from iu_core.job_queue q where q.leased_by = any (p_workers));
  v_jobs uuid[];
  v_gone uuid[];
begin
  v_jobs := array(select q.job_id from iu_core.job_queue q
                   where q.job_id = any (v_held) and q.leased_by = any (p_workers) order by q.job_id for update skip locked);
  if cardinality(v_jobs) > 0 then
    update iu_core.job_queue set leased_by = null, begun = false, attempts = attempts - 1
     where job_id = any (v_jobs) and not (p_crashed and begun);
    if p_crashed then
      perform iu_core.fn_job_end_attempt(array(
        select row(q.job_id, coalesce(nullif(left(p_error, 2000), ''), 'its worker crashed'), false, true)::iu_core.job_failure
          from iu_core.job_queue q where q.job_id = any (v_jobs) and q.begun));
    end if;
    perform iu_core.fn_job_release_slots(w, v_jobs) from unnest(p_workers) w;
  end if;
  v_gone := array(select w from unnest(p_workers) w
                   where not exists (select from iu_core.job_queue q where q.job_id = any (v_held) and q.leased_by = w));
  update iu_core.job_worker set leased_until = least(leased_until, clock_timestamp())
   where worker_id = any (p_workers) and worker_id <> all (v_gone);
  delete from iu_core.job_running where worker_id = any (v_gone);
  delete from iu_core.job_isolation where worker_id = any (v_gone);
  delete from iu_core.job_cancellation where worker_id = any (v_gone);
  delete from iu_core.worker_idle where worker_id = any (p_workers);
  delete from iu_core.job_worker where worker_id = any (v_gone);
  return cardinality(v_jobs);
end $$;

-- The worker. Raises unless its lease is alive and it belongs to the caller. Every call under a lease begins here. Internal.
create or replace function iu_core.fn_job_worker_require(p_worker uuid) returns iu_core.job_worker
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  w iu_core.job_worker;
begin
  select * into w from iu_core.job_worker where worker_id = p_worker;
  -- Ownership is checked first: another executor must not learn that this worker exists.
  if found and not iu_core.fn_caller_is_service() then
    perform iu_core.fn_job_executor_require(w.executor);
    if w.registered_by <> iu_core.fn_actor() then
      w := null;
    end if;
  end if;
  if w.worker_id is null or w.leased_until <= clock_timestamp() then
    raise exception using
      errcode = 'SD703',
      message = format('The lease of the worker %s has expired', coalesce(p_worker::text, 'NULL')),
      detail = json_build_object('worker', p_worker)::text;
  end if;
  return w;
end $$;

-- Raises unless the caller may lease for this executor: a token of stagedoor_executor names exactly one, our own workers may
-- use any. Internal.
create or replace function iu_core.fn_job_executor_require(p_executor text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own text;
begin
  if iu_core.fn_caller_is_service() then
    if p_executor = any (iu_core.fn_executors()) then
      return;
    end if;
  elsif session_user = 'stagedoor_api' and iu_core.fn_caller_role() = 'stagedoor_executor' then
    v_own := nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'executor';
    if p_executor is not null and p_executor = v_own then
      return;
    end if;
  end if;
  raise exception using
    errcode = 'SD704',
    message = case when v_own is null then format('%L is not an executor of this login', p_executor)
                   else format('This token is of the executor %s, not of %s', v_own, coalesce(p_executor, 'NULL')) end,
    detail = json_build_object('executor', p_executor)::text;
end $$;
