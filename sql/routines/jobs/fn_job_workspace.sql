-- The workspace of a job, wherever it is, that the caller may know of; one of others is answered like one that is not there.
-- Internal: definer functions give it to require_member.
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
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD701',
      message = format('There is no job %s', coalesce(p_job::text, 'NULL')),
      detail = json_build_object('what', 'job ' || coalesce(p_job::text, 'NULL'))::text;
  end if;
  return v_workspace;
end $$;
