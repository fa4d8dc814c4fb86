-- What workers held that are gone, or go, is free again: one read of the queue, because the lease is in no index.
-- p_crashed: they died under it. Returns how many jobs that were. Internal.
create or replace function iu_core.fn_job_take_back(p_workers uuid[], p_crashed boolean) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs uuid[];
begin
  select array_agg(l.job_id) into v_jobs
    from (select q.job_id from iu_core.job_queue q where q.leased_by = any (p_workers) order by q.job_id for update) l;
  if v_jobs is not null then
    if p_crashed then
      perform iu_core.fn_job_end_attempt(array(
        select row(j, 'its worker stopped without a word', false, true)::iu_core.job_failure from unnest(v_jobs) j));
    else
      update iu_core.job_queue set leased_by = null, attempts = attempts - 1 where job_id = any (v_jobs);
      perform iu_core.fn_job_free(w, v_jobs) from unnest(p_workers) w;
    end if;
  end if;
  delete from iu_core.job_running where worker_id = any (p_workers);
  delete from iu_core.job_cancellation where worker_id = any (p_workers);
  delete from iu_core.worker_idle where worker_id = any (p_workers);
  delete from iu_core.job_worker where worker_id = any (p_workers);
  return coalesce(cardinality(v_jobs), 0);
end $$;
