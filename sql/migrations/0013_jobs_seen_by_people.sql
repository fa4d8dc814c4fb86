-- Jobs are for people and back-end code to see; keys take turns however long the line of one of them is.

-- An agent sees its own records (0006), and of jobs none: they name what others in the workspace work on.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['job_queue', 'job_history', 'job_dead_letter'] loop
    execute format('drop policy %I on iu_core.%I', v_table || '_member_reads', v_table);
    execute format('create policy %I on iu_core.%I for select to authenticated, stagedoor_reviewer
                      using (workspace_id in (select iu_core.fn_my_workspaces_as_person()))', v_table || '_member_reads', v_table);
    execute format('revoke select on iu_core.%I from stagedoor_agent', v_table);
  end loop;
end $$;

-- The key by which jobs of a kind with fair_by take turns, '' for one without; NULL where the kind has none, so that the
-- index costs the others nothing. It only finds keys: who has a turn is counted by the column itself.
alter table iu_core.job_queue add column fair_key text;
update iu_core.job_queue q
   set fair_key = coalesce(case k.fair_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref else q.payload_ref end, '')
  from iu_core.job_kind k where k.job_kind = q.job_kind and k.fair_by is not null;
create index job_queue_fair on iu_core.job_queue (job_kind, executor, urgency, fair_key, process_after, job_id)
  where fair_key is not null;
create index job_running_fair on iu_core.job_running (job_kind, fair_key) where fair_key is not null;

-- The smallest smallint has no opposite, so a job of that priority could never be enqueued.
update iu_core.consumer_registry set priority = -32767 where priority = -32768;
alter table iu_core.consumer_registry add constraint consumer_registry_priority_has_opposite check (priority > -32768);

-- What belongs to a trace is found by what it carries; a root may carry another's id, too.
create index event_outbox_correlated on iu_core.event_outbox (correlation_id) where correlation_id <> id;
drop index iu_core.event_outbox_correlation;
