-- Enqueues the job of a schedule's time and moves it on to the next, in one transaction. Whoever comes second finds another
-- time there and gets NULL; and so does a machine whose clock runs ahead, because it is the database's clock that counts.
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
    raise exception using errcode = 'SD001', message = 'A schedule goes on from its due time to a later one';
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
