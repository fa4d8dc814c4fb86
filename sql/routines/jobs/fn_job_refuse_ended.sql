-- Says why a job that is not in the queue cannot be changed. Internal.
create or replace function iu_core.fn_job_refuse_ended(p_job uuid) returns void
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
