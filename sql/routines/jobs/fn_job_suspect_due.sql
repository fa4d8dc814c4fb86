-- Whether a job with a crash behind it waits for a worker like this one. A busy worker asks now and then, and empties its
-- hands for it.
create or replace function iu_core.fn_job_suspect_due(p_worker uuid) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  w iu_core.job_worker := iu_core.fn_job_worker_require(p_worker);
begin
  return exists (select from unnest(w.kinds) o
                   join iu_core.job_kind k on k.job_kind = o
                   join iu_core.job_queue q on q.job_kind = o and q.executor = w.executor and q.crashes > 0
                  where k.paused_at is null and q.process_after <= clock_timestamp() and q.leased_by is null);
end $$;

grant execute on function iu_core.fn_job_suspect_due(uuid) to dot_executor, service_role, stagedoor_executor;
