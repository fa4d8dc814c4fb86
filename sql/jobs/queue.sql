-- The job queue: enqueue, cancel, replay.

-- Enqueues one job in the caller's transaction; a rollback removes it. The same kind and key return the same job. In the
-- transaction of a job handler, the new job follows from the event of that job and gets the workspace of that event; without an
-- event it is global. fn_job_enqueue_batch takes a workspace explicitly.
create or replace function iu_core.fn_job_enqueue(
  p_kind text,
  p_idempotency_key text default null,
  p_executor text default 'PG_worker',
  p_source_ref text default null,
  p_target_ref text default null,
  p_payload_ref text default null,
  p_safe_payload jsonb default '{}',
  p_priority smallint default 0::smallint,
  p_process_after timestamptz default now(),
  p_correlation_id uuid default null,
  p_causation_event_id uuid default null,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job iu_core.job_queue;
  v_actor record;
  v_cause record;
begin
  perform iu_core.fn_job_check(p_kind, p_idempotency_key, p_executor, p_safe_payload);
  v_actor := iu_core.fn_actor_for(p_actor);
  v_job.job_kind := p_kind;
  v_job.executor := p_executor;
  v_job.idempotency_key := p_idempotency_key;
  v_job.source_ref := p_source_ref;
  v_job.target_ref := p_target_ref;
  v_job.payload_ref := p_payload_ref;
  v_job.safe_payload := p_safe_payload;
  v_job.priority := p_priority;
  v_job.process_after := p_process_after;
  v_job.actor := v_actor.actor;
  v_job.actor_via := v_actor.via;
  if p_causation_event_id is null then
    v_cause := iu_core.fn_event_cause();
  else
    v_cause := iu_core.fn_job_cause_require(p_kind, p_causation_event_id);
  end if;
  v_job.causation_event_id := v_cause.event_id;
  v_job.causation_depth := v_cause.depth;
  v_job.workspace_id := v_cause.workspace_id;
  v_job.correlation_id := coalesce(p_correlation_id, v_cause.correlation_id);
  return iu_core.fn_job_put_one(v_job);
end $$;

grant execute on function iu_core.fn_job_enqueue(text, text, text, text, text, text, jsonb, smallint, timestamptz, uuid, uuid, text)
  to dot_executor, service_role, stagedoor_producer;

-- Enqueues jobs in one statement; returns their ids in the given order. The keys of the objects are column names. A job
-- without a workspace gets that of the event it follows from.
create or replace function iu_core.fn_job_enqueue_batch(p_jobs jsonb) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
  v_unknown text;
  v_causes uuid[];
  v_jobs iu_core.job_queue[];
  v_suspect boolean;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_job_enqueue_batch takes a JSON array of jobs';
  end if;
  if jsonb_array_length(p_jobs) = 1 then
    return next iu_core.fn_job_enqueue_object(p_jobs -> 0, v_actor);
    return;
  end if;
  select k into v_unknown
    from jsonb_array_elements(p_jobs) j, jsonb_object_keys(j) k
   where k not in ('job_kind', 'idempotency_key', 'executor', 'source_ref', 'target_ref', 'payload_ref', 'safe_payload',
                   'priority', 'process_after', 'correlation_id', 'causation_event_id', 'workspace_id')
   limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A job of a batch has no field called %L', v_unknown);
  end if;
  -- A quick check of all jobs in C; only suspicious ones are checked one by one (5,000 jobs: 5 ms
  -- instead of 75). Where no key's name stands anywhere in the text, no payload has it at any depth.
  v_suspect := p_jobs::text ~* '"(body|content|raw|vector|embedding|secret|token|password|ssn|personal_data)":';
  perform iu_core.fn_job_check(d.kind, null, d.executor, '{}')
     from (select distinct j ->> 'job_kind' as kind, coalesce(j ->> 'executor', 'PG_worker') as executor
             from jsonb_array_elements(p_jobs) j) d;
  perform iu_core.fn_job_check(j ->> 'job_kind', j ->> 'idempotency_key', coalesce(j ->> 'executor', 'PG_worker'), j -> 'safe_payload')
     from jsonb_array_elements(p_jobs) j
    where v_suspect
       or length(j ->> 'idempotency_key') not between 1 and 500
       or coalesce(jsonb_typeof(j -> 'safe_payload'), 'object') <> 'object'
       or length(j ->> 'safe_payload') > 8192;
  v_causes := array(select distinct (j ->> 'causation_event_id')::uuid from jsonb_array_elements(p_jobs) j
                     where j ->> 'causation_event_id' is not null);
  with cause as materialized (
    select e.id, e.correlation_id, e.causation_depth, e.workspace_id from unnest(v_causes) o join iu_core.event_outbox e on e.id = o
  )
  select coalesce(array_agg(row(
           null, j.job_kind, coalesce(j.executor, 'PG_worker'), j.priority, null, j.process_after, null, 0, 0, 0, 0, null, null,
           j.idempotency_key, j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
           coalesce(j.workspace_id, case when j.causation_event_id is null then c.workspace_id else e.workspace_id end),
           coalesce(j.correlation_id, e.correlation_id, c.correlation_id), coalesce(j.causation_event_id, c.event_id),
           coalesce(e.causation_depth, c.depth), v_actor, null, null, null, false, null)::iu_core.job_queue order by t.position), '{}')
    into v_jobs
    from iu_core.fn_event_cause() c,
         jsonb_array_elements(p_jobs) with ordinality as t (value, position),
         lateral jsonb_to_record(t.value) as j (
           job_kind text, idempotency_key text, executor text, source_ref text, target_ref text, payload_ref text,
           safe_payload jsonb, priority smallint, process_after timestamptz, correlation_id uuid, causation_event_id uuid,
           workspace_id uuid)
    left join cause e on e.id = j.causation_event_id;
  select o::text into v_unknown from unnest(v_causes) o where not exists (select from iu_core.event_outbox e where e.id = o) limit 1;
  if found then
    raise exception using
      errcode = 'SD705',
      message = format('There is no event %s to be the cause of a job', v_unknown),
      detail = json_build_object('kind', null, 'reason', format('there is no event %s', v_unknown))::text;
  end if;
  return query select p.job_id from iu_core.fn_job_put(v_jobs) p order by p.ordinal;
end $$;

grant execute on function iu_core.fn_job_enqueue_batch(jsonb) to dot_executor, service_role, stagedoor_producer;

-- Enqueues the only job of a batch: the same without the statements that a set needs. Internal.
create or replace function iu_core.fn_job_enqueue_object(p_job jsonb, p_actor text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job iu_core.job_queue;
  v_cause record;
begin
  if p_job - '{job_kind,idempotency_key,executor,source_ref,target_ref,payload_ref,safe_payload,priority,process_after,correlation_id,causation_event_id,workspace_id}'::text[] <> '{}' then
    raise exception using errcode = 'SD001', message = format('A job of a batch has no field called %L', (
      select k from jsonb_object_keys(p_job) k
       where k not in ('job_kind', 'idempotency_key', 'executor', 'source_ref', 'target_ref', 'payload_ref', 'safe_payload',
                       'priority', 'process_after', 'correlation_id', 'causation_event_id', 'workspace_id')
       limit 1));
  end if;
  perform iu_core.fn_job_check(p_job ->> 'job_kind', p_job ->> 'idempotency_key', coalesce(p_job ->> 'executor', 'PG_worker'), p_job -> 'safe_payload');
  v_job.job_kind := p_job ->> 'job_kind';
  v_job.executor := coalesce(p_job ->> 'executor', 'PG_worker');
  v_job.idempotency_key := p_job ->> 'idempotency_key';
  v_job.source_ref := p_job ->> 'source_ref';
  v_job.target_ref := p_job ->> 'target_ref';
  v_job.payload_ref := p_job ->> 'payload_ref';
  v_job.safe_payload := p_job -> 'safe_payload';
  v_job.priority := p_job ->> 'priority';
  v_job.process_after := p_job ->> 'process_after';
  v_job.actor := p_actor;
  if p_job ->> 'causation_event_id' is null then
    v_cause := iu_core.fn_event_cause();
  else
    v_cause := iu_core.fn_job_cause_require(p_job ->> 'job_kind', (p_job ->> 'causation_event_id')::uuid);
  end if;
  v_job.causation_event_id := v_cause.event_id;
  v_job.causation_depth := v_cause.depth;
  v_job.correlation_id := coalesce((p_job ->> 'correlation_id')::uuid, v_cause.correlation_id);
  v_job.workspace_id := coalesce((p_job ->> 'workspace_id')::uuid, v_cause.workspace_id);
  return iu_core.fn_job_put_one(v_job);
end $$;

-- The event that a new job follows from, as fn_event_cause gives it. Raises if there is none. Internal.
create or replace function iu_core.fn_job_cause_require(
  p_kind text, p_event_id uuid, out event_id uuid, out correlation_id uuid, out depth smallint, out workspace_id uuid
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select e.id, e.correlation_id, e.causation_depth, e.workspace_id into event_id, correlation_id, depth, workspace_id
    from iu_core.event_outbox e where e.id = p_event_id;
  if event_id is null then
    raise exception using
      errcode = 'SD705',
      message = format('There is no event %s to be the cause of this job', p_event_id),
      detail = json_build_object('kind', p_kind, 'reason', format('there is no event %s', p_event_id))::text;
  end if;
end $$;

-- Cancels a job. A waiting job ends at once ('cancelled'). A running job is cancelled with its worker's next heartbeat
-- ('requested'); if it completes before that, it counts as completed.
create or replace function iu_core.fn_job_cancel(p_job uuid, p_reason text default null, p_actor text default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  q iu_core.job_queue;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_job_workspace(p_job), 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  select * into q from iu_core.job_queue where job_id = p_job for update;
  if not found then
    perform iu_core.fn_job_raise_ended(p_job);
  end if;
  if q.leased_by is not null then
    insert into iu_core.job_cancellation (job_id, worker_id, requested_by, reason)
    values (p_job, q.leased_by, v_actor.actor, left(p_reason, 2000))
    on conflict (job_id) do update set worker_id = excluded.worker_id, requested_by = excluded.requested_by, reason = excluded.reason;
    return 'requested';
  end if;
  perform iu_core.fn_job_cancel_waiting(p_job, v_actor.actor, p_reason);
  return 'cancelled';
end $$;

grant execute on function iu_core.fn_job_cancel(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Returns dead letters to the queue under their own ids, with all their attempts: the given ids, or those of a kind, or those
-- that died before a time; in a workspace, or for the back end everywhere. Returns the ids.
create or replace function iu_core.fn_job_replay(
  p_jobs uuid[] default null,
  p_kind text default null,
  p_failed_before timestamptz default null,
  p_limit integer default 1000,
  p_workspace_id uuid default null,
  p_actor text default null
) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_ids uuid[];
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  if num_nonnulls(p_jobs, p_kind, p_failed_before) = 0 then
    raise exception using errcode = 'SD001', message = 'Select the dead letters: by ids, by kind, or by the time before which they failed';
  end if;
  if p_limit is null or p_limit not between 1 and 100000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 100000';
  end if;
  select array_agg(l.job_id) into v_ids
    from (select d.job_id from iu_core.job_dead_letter d
           where (p_jobs is null or d.job_id = any (p_jobs))
             and (p_kind is null or d.job_kind = p_kind)
             and (p_failed_before is null or d.failed_at < p_failed_before)
             and (p_workspace_id is null or d.workspace_id = p_workspace_id)
           order by d.failed_at, d.job_id limit p_limit for update skip locked) l;
  if v_ids is null then
    if cardinality(p_jobs) = 1 then
      perform iu_core.fn_job_workspace(p_jobs[1]);
      if not exists (select from iu_core.job_queue q where q.job_id = p_jobs[1]) then
        perform iu_core.fn_job_raise_ended(p_jobs[1]);
      end if;
    end if;
    return;
  end if;
  return query
    with dead as (
      delete from iu_core.job_dead_letter d where d.job_id = any (v_ids) returning d.*
    )
    insert into iu_core.job_queue (
      job_id, job_kind, executor, priority, process_after, enqueued_at, replays, lease_epoch, idempotency_key, source_ref,
      target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor,
      actor_via, last_error, attempt_errors, fair_key)
    -- A new range of epochs after each replay, so that a lease from before the replay is invalid.
    select d.job_id, d.job_kind, d.executor, d.priority, clock_timestamp(), d.enqueued_at, d.replays + 1,
           (d.replays + 1) * 1000000, d.idempotency_key, d.source_ref, d.target_ref, d.payload_ref, d.safe_payload,
           d.workspace_id, d.correlation_id, d.causation_event_id, d.causation_depth, d.actor, d.actor_via, d.last_error,
           d.attempt_errors, iu_core.fn_job_fair_key(k.fair_by, d.source_ref, d.target_ref, d.payload_ref)
      from dead d join iu_core.job_kind k on k.job_kind = d.job_kind
    returning job_id;
  perform pg_notify('stagedoor', 'jobs ' || k)
     from (select distinct q.job_kind as k from iu_core.job_queue q where q.job_id = any (v_ids)) kinds;
end $$;

grant execute on function iu_core.fn_job_replay(uuid[], text, timestamptz, integer, uuid, text)
  to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Inserts jobs into the queue; nothing else does, but fn_job_put_one for a single one and fn_consumer_enqueue_new in bulk. It takes from each row
-- the columns that a caller may set; a used key returns the earlier job. fresh: this call created or changed the job. Internal.
--
-- Kinds that keep their keys (the default) are inserted as a set, sorted by key: two batches in opposite orders would deadlock.
-- Kinds that replace or debounce are handled one by one, because each looks at the existing job.
create or replace function iu_core.fn_job_put(p_jobs iu_core.job_queue[])
returns table (ordinal integer, job_id uuid, fresh boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_kinds text[] := array(select distinct g.job_kind from unnest(p_jobs) g order by 1);
  v_ids uuid[];
  v_owners uuid[];
  v_given bigint;
  v_keyed bigint;
  v_number integer;
  v_fair jsonb;
begin
  insert into iu_core.job_kind (job_kind)
  select k from unnest(v_kinds) k where not exists (select from iu_core.job_kind e where e.job_kind = k)
  on conflict do nothing;
  if exists (select from iu_core.job_kind k where k.job_kind = any (v_kinds) and k.key_mode <> 'keep') then
    for v_number in
      select g.ordinality from unnest(p_jobs) with ordinality g order by g.job_kind, g.idempotency_key, g.ordinality
    loop
      return query select v_number, p.job_id, p.fresh from iu_core.fn_job_put_by_key(p_jobs[v_number]) p;
    end loop;
  else
    v_ids := array(select coalesce(g.job_id, iu_core.fn_time_uuid()) from unnest(p_jobs) g);
    v_given := (select count(g.idempotency_key) from unnest(p_jobs) g);
    insert into iu_core.job_key (job_kind, idempotency_key, job_id)
    select g.job_kind, g.idempotency_key, v_ids[g.ordinality] from unnest(p_jobs) with ordinality g
     where g.idempotency_key is not null order by 1, 2, g.ordinality
    on conflict do nothing;
    get diagnostics v_keyed = row_count;
    -- The job of each key. A separate statement: it sees jobs that others committed. A subquery, so that it is
    -- always asked of the index: joined, the planner reads the whole table.
    v_owners := case when v_keyed = v_given then v_ids else array(
      select case when g.idempotency_key is null then v_ids[g.ordinality] else
               (select k.job_id from iu_core.job_key k where k.job_kind = g.job_kind and k.idempotency_key = g.idempotency_key) end
        from unnest(p_jobs) with ordinality g) end;
    -- NULL for most batches: then it costs a job nothing.
    v_fair := (select jsonb_object_agg(k.job_kind, k.fair_by) from iu_core.job_kind k
                where k.job_kind = any (v_kinds) and k.fair_by is not null);
    insert into iu_core.job_queue (
      job_id, job_kind, executor, priority, process_after, idempotency_key, source_ref, target_ref, payload_ref,
      safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via, fair_key)
    select v_ids[g.ordinality], g.job_kind, coalesce(g.executor, 'PG_worker'), coalesce(g.priority, 0::smallint),
           coalesce(g.process_after, now()), g.idempotency_key, g.source_ref, g.target_ref, g.payload_ref,
           coalesce(g.safe_payload, '{}'), g.workspace_id, g.correlation_id, g.causation_event_id,
           coalesce(g.causation_depth, 0::smallint), g.actor, g.actor_via,
           case when v_fair is not null then iu_core.fn_job_fair_key(v_fair ->> g.job_kind, g.source_ref, g.target_ref, g.payload_ref) end
      from unnest(p_jobs) with ordinality g
     where v_owners[g.ordinality] = v_ids[g.ordinality];
    return query select n, v_owners[n], v_owners[n] = v_ids[n] from generate_subscripts(v_ids, 1) n;
  end if;
  -- Only if a worker is idle: NOTIFY serializes commits (8 clients: 8,500 enqueues a second without, 3,200 with). Also for what is due
  -- soon: an idle worker asks then when that is, and otherwise only every other second.
  if exists (select from iu_core.worker_idle) then
    perform pg_notify('stagedoor', 'jobs ' || g.job_kind)
       from (select distinct g.job_kind, coalesce(g.executor, 'PG_worker') as executor from unnest(p_jobs) g
              where g.process_after is null or g.process_after <= now() + interval '5 seconds') g
      where exists (select from iu_core.worker_idle w where w.executor = g.executor and g.job_kind = any (w.kinds));
  end if;
end $$;

-- Inserts one job as fn_job_put does: the same without the statements that a set needs. The notification names the job if all workers that
-- it wakes take ids and nothing but the job decides whether it may run. Internal.
create or replace function iu_core.fn_job_put_one(p_job iu_core.job_queue) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_kind record;
  v_id uuid;
  v_executor text := coalesce(p_job.executor, 'PG_worker');
  v_take_ids boolean;
begin
  select k.key_mode, k.fair_by, k.limited or k.paused_at is not null as is_restricted into v_kind
    from iu_core.job_kind k where k.job_kind = p_job.job_kind;
  if v_kind.key_mode is distinct from 'keep' then
    -- Also a kind that nobody has registered.
    return (select p.job_id from iu_core.fn_job_put(array[p_job]) p);
  end if;
  v_id := coalesce(p_job.job_id, iu_core.fn_time_uuid());
  if p_job.idempotency_key is not null then
    insert into iu_core.job_key (job_kind, idempotency_key, job_id) values (p_job.job_kind, p_job.idempotency_key, v_id) on conflict do nothing;
    if not found then
      -- A separate statement: it sees jobs that others committed.
      return (select k.job_id from iu_core.job_key k where k.job_kind = p_job.job_kind and k.idempotency_key = p_job.idempotency_key);
    end if;
  end if;
  insert into iu_core.job_queue (
    job_id, job_kind, executor, priority, process_after, idempotency_key, source_ref, target_ref, payload_ref,
    safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via, fair_key)
  values (
    v_id, p_job.job_kind, v_executor, coalesce(p_job.priority, 0::smallint), coalesce(p_job.process_after, now()),
    p_job.idempotency_key, p_job.source_ref, p_job.target_ref, p_job.payload_ref, coalesce(p_job.safe_payload, '{}'),
    p_job.workspace_id, p_job.correlation_id, p_job.causation_event_id, coalesce(p_job.causation_depth, 0::smallint),
    p_job.actor, p_job.actor_via,
    iu_core.fn_job_fair_key(v_kind.fair_by, p_job.source_ref, p_job.target_ref, p_job.payload_ref));
  -- As in fn_job_put.
  if p_job.process_after is null or p_job.process_after <= now() + interval '5 seconds' then
    v_take_ids := (select bool_and(w.takes_ids) from iu_core.worker_idle w where w.executor = v_executor and p_job.job_kind = any (w.kinds));
    if v_take_ids is not null then
      perform pg_notify('stagedoor', 'jobs ' || p_job.job_kind || case
        when v_take_ids and not v_kind.is_restricted and (p_job.process_after is null or p_job.process_after <= now()) then ' ' || v_id else '' end);
    end if;
  end if;
  return v_id;
end $$;

-- Enqueues one job of a kind whose keys count only among waiting jobs. A waiting job with the key takes the values of the new
-- one (replace), or waits longer (debounce, at most max_debounce after the first). A running job may have read the data before
-- the change, so the new job runs after it. Internal.
--
-- A failure belongs to the old content: the new job has all its attempts, but does not run before the old one would have been
-- retried. A job that is delayed by a failure or a snooze is one that had begun. A job that combines events of several
-- workspaces (debounce) belongs to no workspace, or members of the last one would see all of it.
create or replace function iu_core.fn_job_put_by_key(p_job iu_core.job_queue, out job_id uuid, out fresh boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_kind iu_core.job_kind;
  v_known uuid;
  v_found boolean;
  v_after timestamptz := coalesce(p_job.process_after, now());
begin
  job_id := coalesce(p_job.job_id, iu_core.fn_time_uuid());
  fresh := true;
  select * into v_kind from iu_core.job_kind k where k.job_kind = p_job.job_kind;
  if v_kind.key_mode = 'debounce' then
    v_after := greatest(v_after, clock_timestamp() + v_kind.debounce);
  end if;
  if p_job.idempotency_key is not null then
    -- Also locks the key: the next enqueue under it waits for this transaction.
    insert into iu_core.job_key as k (job_kind, idempotency_key, job_id)
    values (p_job.job_kind, p_job.idempotency_key, job_id)
    on conflict (job_kind, idempotency_key) do update set job_id = k.job_id
    returning k.job_id into v_known;
    if v_known <> job_id then
      if v_kind.key_mode = 'keep' then
        job_id := v_known;
        fresh := false;
        return;
      end if;
      update iu_core.job_queue q
         set process_after = greatest(
               case v_kind.key_mode when 'debounce' then least(v_after, q.enqueued_at + v_kind.max_debounce) else v_after end,
               case when q.started_at is not null then q.process_after end),
             executor = coalesce(p_job.executor, 'PG_worker'), attempts = 0, last_error = null, attempt_errors = null,
             priority = coalesce(p_job.priority, 0::smallint), source_ref = p_job.source_ref, target_ref = p_job.target_ref,
             payload_ref = p_job.payload_ref, safe_payload = coalesce(p_job.safe_payload, '{}'),
             workspace_id = case when v_kind.key_mode = 'replace' or q.workspace_id = p_job.workspace_id then p_job.workspace_id end,
             correlation_id = p_job.correlation_id,
             causation_event_id = p_job.causation_event_id, causation_depth = coalesce(p_job.causation_depth, 0::smallint),
             actor = p_job.actor, actor_via = p_job.actor_via,
             fair_key = iu_core.fn_job_fair_key(v_kind.fair_by, p_job.source_ref, p_job.target_ref, p_job.payload_ref)
       where q.job_id = v_known and q.leased_by is null;
      v_found := found;
      if v_found then
        job_id := v_known;
        return;
      end if;
      update iu_core.job_key k set job_id = fn_job_put_by_key.job_id
       where k.job_kind = p_job.job_kind and k.idempotency_key = p_job.idempotency_key;
    end if;
  end if;
  insert into iu_core.job_queue (
    job_id, job_kind, executor, priority, process_after, idempotency_key, source_ref, target_ref, payload_ref,
    safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via, fair_key)
  values (
    fn_job_put_by_key.job_id, p_job.job_kind, coalesce(p_job.executor, 'PG_worker'), coalesce(p_job.priority, 0::smallint), v_after,
    p_job.idempotency_key, p_job.source_ref, p_job.target_ref, p_job.payload_ref, coalesce(p_job.safe_payload, '{}'),
    p_job.workspace_id, p_job.correlation_id, p_job.causation_event_id, coalesce(p_job.causation_depth, 0::smallint),
    p_job.actor, p_job.actor_via,
    iu_core.fn_job_fair_key(v_kind.fair_by, p_job.source_ref, p_job.target_ref, p_job.payload_ref));
end $$;

-- Raises for a job that the queue cannot hold or that contains more than references. Internal.
create or replace function iu_core.fn_job_check(
  p_kind text, p_idempotency_key text, p_executor text, p_safe_payload jsonb
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  if p_kind is null or p_kind !~ '^[a-z][a-z0-9_.:-]{0,62}$' then
    v_reason := format('%L is not a valid kind: use lowercase letters, digits and _.:-, at most 63', p_kind);
  elsif p_idempotency_key is not null and (p_idempotency_key = '' or length(p_idempotency_key) > 500) then
    v_reason := 'its idempotency key is empty or longer than 500 characters';
  elsif p_executor is null or p_executor <> all (iu_core.fn_executors()) then
    raise exception using
      errcode = 'SD704',
      message = format('%L is not an executor', p_executor),
      detail = json_build_object('executor', p_executor)::text;
  else
    v_reason := iu_core.fn_payload_problem(coalesce(p_safe_payload, '{}'));
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD705',
      message = format('A job of the kind %s cannot be enqueued: %s', coalesce(p_kind, 'NULL'), v_reason),
      detail = json_build_object('kind', p_kind, 'reason', v_reason)::text;
  end if;
end $$;

-- The key by which jobs of a kind take turns; jobs without one share a key. NULL: the kind has no turns. No search_path of its
-- own, so that it is inlined; its body is resolved where it is created. Internal.
create or replace function iu_core.fn_job_fair_key(p_fair_by text, p_source_ref text, p_target_ref text, p_payload_ref text) returns text
language sql immutable parallel safe
return case p_fair_by
  when 'source_ref' then coalesce(p_source_ref, '')
  when 'target_ref' then coalesce(p_target_ref, '')
  when 'payload_ref' then coalesce(p_payload_ref, '')
end;

-- Moves a waiting job from the queue to the history as cancelled. Internal.
create or replace function iu_core.fn_job_cancel_waiting(p_job uuid, p_by text, p_reason text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with removed as (
    delete from iu_core.job_queue where job_id = p_job and leased_by is null returning *
  )
  insert into iu_core.job_history (
    job_id, job_kind, executor, outcome, priority, attempts, crashes, replays, enqueued_at, started_at, idempotency_key,
    source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth,
    actor, actor_via, last_error, ended_by, attempt_errors)
  select job_id, job_kind, executor, 'cancelled', priority, attempts, crashes, replays, enqueued_at, started_at,
         idempotency_key, source_ref, target_ref, payload_ref, safe_payload, workspace_id, correlation_id,
         causation_event_id, causation_depth, actor, actor_via, coalesce(left(p_reason, 2000), last_error), p_by,
         attempt_errors
    from removed
$$;

-- Raises the reason why a job that is not in the queue cannot be changed. Internal.
create or replace function iu_core.fn_job_raise_ended(p_job uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end text;
begin
  select case when exists (select from iu_core.job_dead_letter where job_id = p_job) then 'a dead letter'
              else (select h.outcome from iu_core.job_history h where h.job_id = p_job order by h.finished_at desc limit 1) end into v_end;
  if v_end is null then
    raise exception using
      errcode = 'SD701',
      message = format('There is no job %s', coalesce(p_job::text, 'NULL')),
      detail = json_build_object('what', 'job ' || coalesce(p_job::text, 'NULL'))::text;
  end if;
  raise exception using
    errcode = 'SD702',
    message = format('The job %s has ended: it is %s', p_job, v_end),
    detail = json_build_object('job', p_job, 'outcome', v_end)::text;
end $$;

-- The workspace of a job, in the queue, the history or the dead letters, that the caller may see; another workspace's job gives
-- the same error as a missing one. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_job_workspace(p_job uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select j.workspace_id into v_workspace
    from (select workspace_id from iu_core.job_queue where job_id = p_job
          union all
          select workspace_id from iu_core.job_dead_letter where job_id = p_job
          union all
          select workspace_id from iu_core.job_history where job_id = p_job
          limit 1) j;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD701',
      message = format('There is no job %s', coalesce(p_job::text, 'NULL')),
      detail = json_build_object('what', 'job ' || coalesce(p_job::text, 'NULL'))::text;
  end if;
  return v_workspace;
end $$;
