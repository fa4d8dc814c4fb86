-- Ends an issue, once, and says so with an event. The next occurrence opens a new one.
create or replace function iu_core.fn_system_issue_resolve(
  p_issue_id uuid,
  p_resolution text default null,
  p_actor text default null
) returns iu_core.system_issue
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_issue iu_core.system_issue;
begin
  perform iu_core.require_member(iu_core.fn_system_issue_workspace(p_issue_id), 'operate');
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  update iu_core.system_issue
     set resolved_at = clock_timestamp(), resolved_by = v_actor.actor, resolved_via = v_actor.via, resolution = p_resolution
   where issue_id = p_issue_id and resolved_at is null
  returning * into v_issue;
  if not found then
    select * into v_issue from iu_core.system_issue where issue_id = p_issue_id;
    raise exception using
      errcode = 'SD331',
      message = format('Issue %s was resolved by %s at %s', p_issue_id, v_issue.resolved_by, v_issue.resolved_at),
      detail = json_build_object('issue', p_issue_id, 'by', v_issue.resolved_by, 'at', v_issue.resolved_at)::text;
  end if;
  perform iu_core.fn_event_emit(
    'system', 'issue_resolved',
    p_event_subject_ref => p_issue_id::text,
    p_canonical_address => 'stagedoor://issues/' || p_issue_id,
    p_workspace_id => v_issue.workspace_id,
    p_safe_payload => jsonb_build_object('issue_id', p_issue_id, 'code', v_issue.code, 'severity', v_issue.severity),
    p_actor => p_actor);
  return v_issue;
end $$;

grant execute on function iu_core.fn_system_issue_resolve(uuid, text, text) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
