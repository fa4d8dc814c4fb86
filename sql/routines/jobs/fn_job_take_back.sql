-- What workers held that are gone, or go, is free again: one read of the queue, because the lease is in no index.
-- p_crashed: they died. Then the jobs that had begun are charged with it, under p_error; what was only claimed ahead is as it
-- was before the claim. Returns how many jobs that were. Internal.
--
-- A job that somebody has locked is not waited for: it may be a completion in the transaction of a machine that lost its
-- power, which the server notices after hours, and everybody else's jobs would wait with it. Its worker stays, with its lease
-- over, until the lock is gone; then the job is, too, or is taken back.
create or replace function iu_core.fn_job_take_back(
  p_workers uuid[], p_crashed boolean, p_error text default 'its worker stopped without a word'
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
    perform iu_core.fn_job_free(w, v_jobs) from unnest(p_workers) w;
  end if;
  v_gone := array(select w from unnest(p_workers) w
                   where not exists (select from iu_core.job_queue q where q.job_id = any (v_held) and q.leased_by = w));
  update iu_core.job_worker set leased_until = least(leased_until, clock_timestamp())
   where worker_id = any (p_workers) and worker_id <> all (v_gone);
  delete from iu_core.job_running where worker_id = any (v_gone);
  delete from iu_core.job_alone where worker_id = any (v_gone);
  delete from iu_core.job_cancellation where worker_id = any (v_gone);
  delete from iu_core.worker_idle where worker_id = any (p_workers);
  delete from iu_core.job_worker where worker_id = any (v_gone);
  return cardinality(v_jobs);
end $$;
