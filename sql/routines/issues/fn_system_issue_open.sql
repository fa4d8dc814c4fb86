-- Opens an issue, or counts one more occurrence of the open one with the same code and subject. Only the first is told as
-- an event: what keeps going wrong must not keep setting off work. Internal code and back-end code only.
create or replace function iu_core.fn_system_issue_open(
  p_code text,
  p_severity text,
  p_subject_ref text,
  p_title text,
  p_detail jsonb default '{}',
  p_workspace_id uuid default null,
  p_occurrences bigint default 1
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  if p_code is null or p_severity is null or p_title is null or coalesce(p_occurrences, 0) < 1 then
    raise exception using errcode = 'SD001', message = 'An issue needs a code, a severity, a title and at least one occurrence';
  end if;
  insert into iu_core.system_issue as i (code, severity, subject_ref, title, detail, workspace_id, occurrences)
  values (p_code, p_severity, p_subject_ref, p_title, coalesce(p_detail, '{}'), p_workspace_id, p_occurrences)
  on conflict (code, subject_ref) where resolved_at is null do update
     set occurrences = i.occurrences + excluded.occurrences, last_seen_at = excluded.last_seen_at,
         title = excluded.title, detail = excluded.detail, severity = excluded.severity
  returning * into v_issue;
  if v_issue.occurrences = p_occurrences then
    perform iu_core.fn_event_emit(
      'system', 'issue_opened',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_workspace_id => p_workspace_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', p_code, 'severity', p_severity));
  end if;
  return v_issue.issue_id;
end $$;

grant execute on function iu_core.fn_system_issue_open(text, text, text, text, jsonb, uuid, bigint) to dot_executor, service_role;
