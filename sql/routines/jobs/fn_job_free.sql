-- Jobs that are no longer this worker's no longer count as running, and a suspect no longer keeps other jobs from it. What it gave back though somebody wanted it to end has
-- ended. Mostly there is nothing to do: only kinds with a limit are counted. Internal.
create or replace function iu_core.fn_job_free(p_worker uuid, p_jobs uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from iu_core.job_running where worker_id = p_worker) then
    delete from iu_core.job_running r
     where r.worker_id = p_worker and r.job_id = any (p_jobs)
       and not exists (select from iu_core.job_queue q where q.job_id = r.job_id and q.leased_by = p_worker);
  end if;
  if exists (select from iu_core.job_alone where worker_id = p_worker) then
    delete from iu_core.job_alone a
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
