-- System issues: problems that need a person.

-- Opens an issue, or counts one more occurrence of the open issue with the same code and subject. Only the first occurrence
-- emits an event: a repeating failure must not keep creating work. Internal code and back-end code only.
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

-- The open issues of the caller's workspaces, newest first, as an agent may know of them: that something of a kind is wrong, how often and since
-- when. Titles, details and subjects may quote what an agent may not read; people read them.
create or replace function iu_core.fn_system_issue_summaries(p_limit integer default 100, p_after uuid default null)
returns table (
  issue_id uuid, code text, severity text, workspace_id uuid, occurrences bigint, opened_at timestamptz, last_seen_at timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.issue_id, i.code, i.severity, i.workspace_id, i.occurrences, i.opened_at, i.last_seen_at
    from iu_core.system_issue i
   where i.resolved_at is null and i.workspace_id in (select iu_core.fn_my_workspaces()) and (p_after is null or i.issue_id < p_after)
   order by i.issue_id desc
   limit least(greatest(p_limit, 0), 1000)
$$;

grant execute on function iu_core.fn_system_issue_summaries(integer, uuid) to stagedoor_agent;

-- Resolves an issue once, and emits an event. The next occurrence opens a new issue.
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

-- The workspace of an issue that the caller may see; another workspace's issue gives the same error as a missing one. Internal:
-- definer functions pass the result to require_member.
create or replace function iu_core.fn_system_issue_workspace(p_issue_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.system_issue where issue_id = p_issue_id;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD330',
      message = format('There is no issue %s', coalesce(p_issue_id::text, 'NULL')),
      detail = json_build_object('issue', p_issue_id)::text;
  end if;
  return v_workspace;
end $$;
