-- After an issue was resolved: asks a person to look again whether it stays so. Once for an issue. What it opens is an issue
-- itself, whose resolution is no reason for another, or it would feed itself for ever.
create or replace function iu_core.fn_health_followup_review(p_issue_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  i iu_core.system_issue;
  v_subject text := 'issue:' || p_issue_id;
  v_followup uuid;
begin
  select * into i from iu_core.system_issue where issue_id = p_issue_id for update;
  if not found then
    return jsonb_build_object('skipped', 'there is no such issue');
  elsif i.code = 'health_followup_review' then
    return jsonb_build_object('skipped', 'it is a follow-up itself');
  end if;
  select f.issue_id into v_followup from iu_core.system_issue f
   where f.code = 'health_followup_review' and f.subject_ref = v_subject limit 1;
  return jsonb_build_object('issue_id', coalesce(v_followup, iu_core.fn_system_issue_open(
    'health_followup_review', 'info', v_subject, left('Does it stay resolved? ' || i.title, 500),
    jsonb_build_object('issue_id', p_issue_id, 'code', i.code), i.workspace_id)));
end $$;

grant execute on function iu_core.fn_health_followup_review(uuid) to dot_executor, service_role;
