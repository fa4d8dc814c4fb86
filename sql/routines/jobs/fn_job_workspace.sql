-- The workspace of a job wherever it is; for the check of who may touch it. An unknown job has none, so that only the back
-- end learns that it is unknown. Internal.
create or replace function iu_core.fn_job_workspace(p_job uuid) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select workspace_id from iu_core.job_queue where job_id = p_job
  union all
  select workspace_id from iu_core.job_dead_letter where job_id = p_job
  union all
  select workspace_id from iu_core.job_history where job_id = p_job
  limit 1
$$;
