-- Schedules: a job at each time of a cron line.

-- Creates or changes a schedule: one job at each time of its cron line, in its time zone. The caller computes the next time,
-- because PostgreSQL has no cron. Set again with the same line it keeps its position.
create or replace function iu_core.fn_job_schedule_set(
  p_schedule text, p_cron text, p_time_zone text, p_kind text, p_safe_payload jsonb, p_next_at timestamptz,
  p_enabled boolean default true, p_actor text default null
) returns iu_core.job_schedule
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  s iu_core.job_schedule;
  v_actor record;
begin
  perform iu_core.require_member_everywhere('administer');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_job_check(p_kind, null, 'PG_worker', p_safe_payload);
  if p_schedule is null or p_schedule !~ '^[a-z][a-z0-9_.:-]{0,62}$' or p_cron is null or p_next_at is null or p_enabled is null then
    raise exception using errcode = 'SD001', message = 'A schedule needs a name (lowercase letters, digits and _.:-), a cron line and a next time';
  end if;
  if not exists (select from pg_timezone_names where name = p_time_zone) then
    raise exception using errcode = 'SD001', message = format('%L is not a time zone', p_time_zone);
  end if;
  insert into iu_core.job_kind (job_kind) values (p_kind) on conflict do nothing;
  insert into iu_core.job_schedule as o (schedule, cron, time_zone, job_kind, safe_payload, enabled, next_at, registered_by)
  values (p_schedule, p_cron, p_time_zone, p_kind, coalesce(p_safe_payload, '{}'), p_enabled, p_next_at, v_actor.actor)
  on conflict (schedule) do update
     set cron = excluded.cron, time_zone = excluded.time_zone, job_kind = excluded.job_kind, safe_payload = excluded.safe_payload,
         enabled = excluded.enabled,
         next_at = case when (o.cron, o.time_zone, o.enabled) = (excluded.cron, excluded.time_zone, excluded.enabled)
                        then o.next_at else excluded.next_at end
  returning * into s;
  return s;
end $$;

grant execute on function iu_core.fn_job_schedule_set(text, text, text, text, jsonb, timestamptz, boolean, text)
  to dot_executor, service_role, stagedoor_reviewer;

-- Deletes a schedule. Returns whether it existed.
create or replace function iu_core.fn_job_schedule_delete(p_schedule text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_everywhere('administer');
  delete from iu_core.job_schedule where schedule = p_schedule;
  return found;
end $$;

grant execute on function iu_core.fn_job_schedule_delete(text) to dot_executor, service_role, stagedoor_reviewer;

-- Enqueues the job of a schedule's due time and moves it to the next time, in one transaction. A second caller finds another
-- time and gets NULL. So does a machine whose clock is ahead, because the database's clock counts.
create or replace function iu_core.fn_job_schedule_fire(
  p_schedule text, p_due timestamptz, p_next timestamptz, p_now timestamptz default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  s iu_core.job_schedule;
  v_job uuid;
begin
  if p_due is null or p_next is null or p_next <= p_due then
    raise exception using errcode = 'SD001', message = 'The next time of a schedule must be later than its due time';
  end if;
  select * into s from iu_core.job_schedule where schedule = p_schedule for update;
  if not found then
    raise exception using
      errcode = 'SD706',
      message = format('There is no schedule %s', coalesce(p_schedule, 'NULL')),
      detail = json_build_object('what', 'schedule ' || coalesce(p_schedule, 'NULL'))::text;
  end if;
  if not s.enabled or s.next_at <> p_due or p_due > coalesce(p_now, clock_timestamp()) then
    return null;
  end if;
  v_job := iu_core.fn_job_enqueue(s.job_kind,
    p_idempotency_key => format('schedule:%s:%s', s.schedule, to_char(p_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
    p_source_ref => 'schedule:' || s.schedule, p_safe_payload => s.safe_payload);
  update iu_core.job_schedule set next_at = p_next, last_due = p_due, last_job_id = v_job where schedule = s.schedule;
  return v_job;
end $$;

grant execute on function iu_core.fn_job_schedule_fire(text, timestamptz, timestamptz, timestamptz) to dot_executor, service_role;
