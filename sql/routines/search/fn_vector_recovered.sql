-- Ends the issues of what was a dead letter and is in search now. Internal.
create or replace function iu_core.fn_vector_recovered(p_outbox uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  for v_issue in
    update iu_core.system_issue i
       set resolved_at = clock_timestamp(), resolved_by = iu_core.fn_actor(), resolution = 'It was projected into search.'
      from iu_core.vector_outbox o
     where o.outbox_id = any (p_outbox) and o.status = 'done'
       and i.code = 'vector_dead_letter' and i.subject_ref = o.outbox_id::text and i.resolved_at is null
    returning i.*
  loop
    perform iu_core.fn_event_emit(
      'system', 'issue_resolved',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_workspace_id => v_issue.workspace_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', v_issue.code, 'severity', v_issue.severity));
  end loop;
end $$;
