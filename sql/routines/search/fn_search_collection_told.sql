-- Ends the issue of what the embedder of a collection refuses. Internal.
create or replace function iu_core.fn_search_collection_told(p_collection text, p_resolution text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  update iu_core.system_issue i
     set resolved_at = clock_timestamp(), resolved_by = iu_core.fn_actor(), resolution = p_resolution
   where i.code = 'search_refused' and i.subject_ref = p_collection and i.resolved_at is null
  returning i.* into v_issue;
  if found then
    perform iu_core.fn_event_emit(
      'system', 'issue_resolved',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', v_issue.code, 'severity', v_issue.severity));
  end if;
end $$;
