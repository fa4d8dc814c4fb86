-- Another history of the database: a failover or a restore that lost the last commits.

-- Called by a process that finds the database on another history (system identifier and timeline) than before. The first call
-- for a history opens an issue and ends all leases: what was completed under them may be lost, and its holder, who knows it as
-- completed, would keep it for as long as it lives. Jobs, commands and rows of search become free; no crash is charged. Holders
-- register again. Returns whether it was the first call.
create or replace function iu_core.fn_database_history_announce(p_before text, p_now text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_subject constant text := 'history:' || p_now;
begin
  if p_before is null or p_now is null or p_before !~ '^[0-9]+/[0-9A-F]{8}$' or p_now !~ '^[0-9]+/[0-9A-F]{8}$' then
    raise exception using errcode = 'SD001', message = 'A history is a system identifier and a timeline: 7654321/00000002';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('iu_core.database_history', 0));
  if exists (select from iu_core.system_issue where code = 'database_history' and subject_ref = v_subject) then
    return false;
  end if;
  perform iu_core.fn_system_issue_open(
    'database_history', 'warning', v_subject,
    'The database had a failover or was restored: the last commits before it may be lost, and what they completed runs again',
    jsonb_build_object('before', p_before, 'now', p_now));
  perform iu_core.fn_job_reclaim(array(select w.worker_id from iu_core.job_worker w order by w.worker_id for update), false);
  perform noetl.fn_engine_reclaim(array(select e.engine_id from noetl.engine e order by e.engine_id for update), false);
  update iu_core.vector_outbox set status = 'pending', worker_id = null, leased_until = null, changed_at = clock_timestamp()
   where status = 'processing';
  return true;
end $$;

grant execute on function iu_core.fn_database_history_announce(text, text) to dot_executor;
