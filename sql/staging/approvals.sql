-- Approvals that programs ask for: the request with what is shown, what came of it, and its use, once. The record, its change, its reviews
-- and its policy are those of every staging record.

-- Asks for an approval. p_request: {"key", "title", "show", "kind", "form", "policy": {"approvals", "groups"}, "reviewers": [user ids],
-- "groups", "timeout_seconds"}; key, title and show are needed. show is Markdown (a text) or JSON, and with a kind what the schema of the
-- kind asks for. The same key with the same content gives the request that there is, whatever came of it; reviewers and timeout are those
-- of the first call. The same key with other content is an error. Members and agents ask; nobody decides on what they asked for. Returns
-- fn_approval_get, with "created".
create or replace function iu_core.fn_approval_request(
  p_request jsonb, p_workspace_id uuid default null, p_by text default null, p_source_kind text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text;
  v_actor record;
  v_before iu_core.approval;
  v_kind iu_core.approval_kind;
  v_key text := p_request ->> 'key';
  v_title text := p_request ->> 'title';
  v_policy jsonb;
  v_form jsonb;
  v_parts jsonb[];
  v_made record;
  r iu_core.iu_staging_record;
  v_groups text[];
  v_people text[];
begin
  v_role := iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_approval_require_request(p_request);
  if p_workspace_id is null then
    raise exception using errcode = 'SD001', message = 'Somebody must be able to decide: name the workspace whose members do (workspace_id)';
  end if;
  perform iu_core.fn_require_workspace(p_workspace_id);
  v_actor := iu_core.fn_actor_for(p_by);
  v_form := iu_core.fn_approval_form(p_request -> 'form');
  v_policy := iu_core.fn_approval_policy(p_request -> 'policy');
  select * into v_before from iu_core.approval a where a.workspace_id = p_workspace_id and a.approval_key = v_key;
  -- An agent sees its own requests only, and must not learn of others by their keys.
  if found and (v_role = 'agent' or iu_core.fn_caller_role() = 'stagedoor_agent')
     and not exists (select from iu_core.iu_staging_record o where o.staging_record_id = v_before.staging_record_id and o.owner_actor = v_actor.actor) then
    raise exception using errcode = 'SD680', message = format('The key %L belongs to a request of somebody else', v_key),
      detail = json_build_object('key', v_key)::text;
  end if;
  v_kind := iu_core.fn_approval_require_kind(p_workspace_id, p_request ->> 'kind', v_before);
  v_parts := iu_core.fn_approval_parts(p_request, v_kind, v_form, v_policy);
  select x.* into v_made from iu_core.fn_iu_staging_create(
    p_staging_kind => 'approval', p_payload_type => 'approval_request', p_purpose => v_title, p_owner_actor => p_by,
    p_source_kind => p_source_kind, p_idempotency_key => 'approval:' || v_key, p_parts => v_parts, p_workspace_id => p_workspace_id,
    p_expires_at => clock_timestamp() + (p_request ->> 'timeout_seconds')::double precision * interval '1 second') x;
  if v_made.created then
    insert into iu_core.approval (staging_record_id, workspace_id, approval_key, title, kind, kind_revision, form, policy)
    values (v_made.staging_record_id, p_workspace_id, v_key, v_title, v_kind.kind, v_kind.revision, v_form, v_policy);
    select * into r from iu_core.iu_staging_record o where o.staging_record_id = v_made.staging_record_id;
    v_people := array(select jsonb_array_elements_text(coalesce(p_request -> 'reviewers', '[]')));
    -- Whoever must approve is asked.
    v_groups := array(select distinct g from (select jsonb_array_elements_text(coalesce(p_request -> 'groups', '[]'))
                                               union all select jsonb_array_elements_text(coalesce(v_policy -> 'groups', '[]'))) x (g));
    if v_people <> '{}' or v_groups <> '{}' then
      perform iu_core.fn_change_reviewers_set(iu_core.fn_change_of_record(r), v_people, v_groups, p_by);
    else
      perform iu_core.fn_change_of_record(r);
    end if;
  end if;
  return iu_core.fn_approval_get(v_made.staging_record_id) || jsonb_build_object('created', v_made.created);
end $$;

grant execute on function iu_core.fn_approval_request(jsonb, uuid, text, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Raises for a request that is not written as fn_approval_request says. Internal.
create or replace function iu_core.fn_approval_require_request(p_request jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
  v_problem text;
begin
  if jsonb_typeof(p_request) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A request for approval is a JSON object';
  end if;
  select k into v_unknown from jsonb_object_keys(p_request) k
   where k not in ('key', 'title', 'show', 'kind', 'form', 'policy', 'reviewers', 'groups', 'timeout_seconds') limit 1;
  v_problem := case
    when v_unknown is not null then format('A request for approval has no %s; it has key, title, show, kind, form, policy, reviewers, groups and timeout_seconds', left(v_unknown, 100))
    when jsonb_typeof(p_request -> 'key') is distinct from 'string' or p_request ->> 'key' !~ '\S' or length(p_request ->> 'key') > 500
      then 'A request for approval needs a key of 1 to 500 characters: by it whoever asked finds the request again'
    when jsonb_typeof(p_request -> 'title') is distinct from 'string' or p_request ->> 'title' !~ '\S' or length(p_request ->> 'title') > 200
         or p_request ->> 'title' ~ '[\u0001-\u001f\u007f-\u009f]'
      then 'A request for approval needs a title: one line of 1 to 200 characters'
    when coalesce(p_request -> 'show', 'null') = 'null' then 'A request for approval needs show: what the reviewer looks at, as Markdown or as JSON'
    when octet_length(p_request ->> 'show') > 262144 then format('show has %s bytes; a request for approval shows at most 256 KiB', octet_length(p_request ->> 'show'))
    when jsonb_typeof(p_request -> 'show') = 'string' and p_request ->> 'show' !~ '\S' then 'show is empty'
    when coalesce(jsonb_typeof(p_request -> 'kind'), 'null') not in ('string', 'null') then 'kind is the name of a kind'
    when coalesce(jsonb_typeof(p_request -> 'timeout_seconds'), 'null') not in ('number', 'null')
         or (p_request ->> 'timeout_seconds')::numeric not between 1 and 31622400 then 'timeout_seconds is a number from 1 to 31622400 (366 days)'
    when coalesce(jsonb_typeof(p_request -> 'reviewers'), 'array') <> 'array' or jsonb_path_exists(p_request, '$.reviewers[*] ? (@.type() != "string")')
      then 'reviewers is a list of user ids'
    when coalesce(jsonb_typeof(p_request -> 'groups'), 'array') <> 'array' or jsonb_path_exists(p_request, '$.groups[*] ? (@.type() != "string")')
      then 'groups is a list of names of groups' end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem;
  end if;
end $$;

-- The policy of a request as it is stored: {"approvals", "groups"}. It can only ask for more than the policy of the workspace. Internal.
create or replace function iu_core.fn_approval_policy(p_policy jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_policy is null or p_policy = 'null' then
    return '{}';
  elsif jsonb_typeof(p_policy) <> 'object' or exists (select from jsonb_object_keys(p_policy) k where k not in ('approvals', 'groups'))
        or coalesce(p_policy ->> 'approvals', '1') !~ '^([1-9]|10)$' or coalesce(jsonb_typeof(p_policy -> 'groups'), 'array') <> 'array'
        or jsonb_array_length(coalesce(p_policy -> 'groups', '[]')) > 10 or jsonb_path_exists(p_policy, '$.groups[*] ? (@.type() != "string")') then
    raise exception using errcode = 'SD001',
      message = 'The policy of a request is {"approvals": 1 to 10, "groups": [names of at most 10 groups]}; it adds to the review policy of the workspace';
  end if;
  return jsonb_strip_nulls(p_policy);
end $$;

-- The kind of a request: the revision that an earlier call with the same key used, else the current one; all NULL without a kind. Internal.
create or replace function iu_core.fn_approval_require_kind(p_workspace_id uuid, p_kind text, p_before iu_core.approval) returns iu_core.approval_kind
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind iu_core.approval_kind;
begin
  if p_kind is null then
    return null;
  end if;
  select * into v_kind from iu_core.approval_kind k
   where k.workspace_id = p_workspace_id and k.kind = p_kind and (p_before.kind is distinct from p_kind or k.revision = p_before.kind_revision)
   order by k.revision desc limit 1;
  if v_kind.revision is null or (v_kind.deleted_at is not null and p_before.kind is distinct from p_kind) then
    perform iu_core.fn_approval_kind_raise_missing(p_workspace_id, p_kind);
  end if;
  return v_kind;
end $$;

-- The parts of the record: the request, what is shown, and with a template how it is shown. The digest of the record, which a reviewer
-- approves, is over all of them. Internal.
create or replace function iu_core.fn_approval_parts(p_request jsonb, p_kind iu_core.approval_kind, p_form jsonb, p_policy jsonb) returns jsonb[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems text[] := '{}';
  v_parts jsonb[];
begin
  if p_kind.revision is not null then
    v_problems := iu_core.fn_json_schema_problems(p_kind.schema, p_request -> 'show');
  end if;
  if v_problems <> '{}' then
    raise exception using errcode = 'SD684', message = format('show is no %s: %s', p_kind.kind, array_to_string(v_problems, '; ')),
      detail = json_build_object('kind', p_kind.kind, 'problems', v_problems)::text;
  end if;
  v_parts := array[
    jsonb_build_object('part_name', 'request', 'payload_kind', 'json', 'payload_json', jsonb_strip_nulls(jsonb_build_object(
      'title', p_request -> 'title', 'kind', p_kind.kind, 'kind_revision', p_kind.revision)) || jsonb_build_object('form', p_form, 'policy', p_policy)),
    case jsonb_typeof(p_request -> 'show')
      when 'string' then jsonb_build_object('part_name', 'show', 'payload_kind', 'text', 'payload_text', p_request -> 'show')
      else jsonb_build_object('part_name', 'show', 'payload_kind', 'json', 'payload_json', p_request -> 'show') end];
  if p_kind.template is not null then
    v_parts := v_parts || jsonb_build_object('part_name', 'rendered', 'payload_kind', 'text',
      'payload_text', iu_core.fn_approval_render(p_kind.template, p_request -> 'show'));
  end if;
  return v_parts;
end $$;

-- A record of the kind approval without a request would have nobody who asked: refused at the end of the transaction.
create or replace function iu_core.fn_approval_require_of_record() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.approval a where a.staging_record_id = new.staging_record_id)
     and exists (select from iu_core.iu_staging_record r where r.staging_record_id = new.staging_record_id) then
    raise exception using errcode = 'SD001', message = 'A record of the kind approval is made by a request for approval',
      hint = 'Use iu_core.fn_approval_request, `stagedoor approval request` or POST /api/v1/approvals.';
  end if;
  return null;
end $$;

drop trigger if exists iu_staging_record_is_requested on iu_core.iu_staging_record;
create constraint trigger iu_staging_record_is_requested
  after insert on iu_core.iu_staging_record
  deferrable initially deferred
  for each row when (new.staging_kind = 'approval')
  execute function iu_core.fn_approval_require_of_record();

create or replace trigger approval_never_changes
  before update on iu_core.approval
  for each row execute function iu_core.fn_refuse_change();

-- Adds what a request asks for to what its change needs: approvals and groups, never fewer. Other records have no request. Internal:
-- fn_review_standing.
create or replace function iu_core.fn_approval_needs(p_staging_record_id uuid, p_workspace_id uuid, p_needs jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy jsonb;
  v_groups jsonb;
begin
  select a.policy into v_policy from iu_core.approval a where a.staging_record_id = p_staging_record_id and a.policy <> '{}';
  if not found then
    return p_needs;
  end if;
  -- Of names that differ only in case the one that the workspace has.
  select coalesce(jsonb_agg(g order by g), '[]') into v_groups
    from (select coalesce(min(m.group_name), min(x.g)) as g
            from (select jsonb_array_elements_text(p_needs -> 'groups') union all select jsonb_array_elements_text(coalesce(v_policy -> 'groups', '[]'))) x (g)
            left join iu_core.member_group m on m.workspace_id = p_workspace_id and lower(m.group_name) = lower(x.g)
           group by lower(x.g)) n;
  return p_needs || jsonb_build_object(
    'approvals', greatest((p_needs ->> 'approvals')::integer, coalesce((v_policy ->> 'approvals')::integer, 1)),
    'groups', v_groups,
    'rules', (p_needs -> 'rules') || jsonb_build_array(jsonb_build_object('name', 'request', 'why', 'whoever asked for the approval asks for this',
      'approvals', v_policy -> 'approvals', 'groups', coalesce(v_policy -> 'groups', '[]'))));
end $$;

-- Approves a request with what was filled in: fn_change_review with answers. Returns fn_approval_get.
create or replace function iu_core.fn_approval_approve(
  p_approval_id uuid, p_digest text, p_answers jsonb default '{}', p_comment text default null, p_by text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_change uuid;
begin
  perform iu_core.require_member(iu_core.fn_approval_workspace(p_approval_id), 'review');
  select c.change_id into v_change from iu_core.change c where c.kind = 'record' and c.subject_id = p_approval_id;
  perform set_config('stagedoor.approval_answers', jsonb_build_object('record', p_approval_id, 'answers', p_answers)::text, true);
  perform iu_core.fn_change_review(v_change, 'approve', p_digest, p_comment, '{}', p_by);
  perform set_config('stagedoor.approval_answers', '', true);
  return iu_core.fn_approval_get(p_approval_id);
end $$;

grant execute on function iu_core.fn_approval_approve(uuid, text, jsonb, text, text) to service_role, stagedoor_reviewer;

-- Uses an approval, once: approved → consumed by a run that is opened here, in one transaction, so that of two who try one runs. For whoever
-- asked, and for members who may operate. Returns the run; what runs comes after the commit, and fn_approval_finish says how it ended. A
-- process that dies in between leaves the run running: it began at most once, and is not begun again.
create or replace function iu_core.fn_approval_use(p_approval_id uuid, p_digest text default null, p_by text default null) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_actor record;
  v_run uuid;
begin
  perform iu_core.require_member(iu_core.fn_approval_workspace(p_approval_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_by);
  select * into r from iu_core.iu_staging_record where staging_record_id = p_approval_id;
  if r.owner_actor <> v_actor.actor then
    perform iu_core.require_member(r.workspace_id, 'operate');
  end if;
  insert into iu_core.dot_iu_command_run (command, input_digest, workspace_id, actor, actor_via)
  values ('approval ' || p_approval_id, r.content_hash, r.workspace_id, v_actor.actor, v_actor.via)
  returning run_id into v_run;
  perform iu_core.fn_iu_staging_set_consumed(p_approval_id, v_run, p_digest);
  return v_run;
end $$;

grant execute on function iu_core.fn_approval_use(uuid, text, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Says how what was approved ended: well, or with an error. For whoever used the approval, and for members who may operate.
create or replace function iu_core.fn_approval_finish(p_approval_id uuid, p_error text default null, p_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run iu_core.dot_iu_command_run;
begin
  perform iu_core.require_member(iu_core.fn_approval_workspace(p_approval_id), 'stage');
  select u.* into v_run from iu_core.iu_staging_record r join iu_core.dot_iu_command_run u on u.run_id = r.consumed_by_run_id
   where r.staging_record_id = p_approval_id;
  if v_run.run_id is null then
    perform iu_core.fn_iu_staging_raise_status(p_approval_id, 'finished');
  end if;
  if v_run.actor <> (iu_core.fn_actor_for(p_by)).actor then
    perform iu_core.require_member(v_run.workspace_id, 'operate');
  end if;
  perform iu_core.fn_command_run_end(v_run.run_id, left(p_error, 2000));
end $$;

grant execute on function iu_core.fn_approval_finish(uuid, text, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- A request for whoever sees its record: fn_approval_outcome, with what is missing while it waits. Raises staging_not_found else.
create or replace function iu_core.fn_approval_get(p_approval_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome jsonb;
begin
  perform iu_core.require_member(iu_core.fn_approval_workspace(p_approval_id), 'read');
  v_outcome := iu_core.fn_approval_outcome(p_approval_id);
  return v_outcome || jsonb_build_object('summary', case when v_outcome ->> 'status' in ('waiting', 'changes_requested') then (
    select iu_core.fn_review_standing(c.change_id) ->> 'summary' from iu_core.change c where c.kind = 'record' and c.subject_id = p_approval_id) end);
end $$;

grant execute on function iu_core.fn_approval_get(uuid) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- What came of a request: who asked, who decided what, when and why. The status is waiting, approved, rejected, changes_requested, expired or
-- withdrawn. Only an approval is consent: a request that nobody answered has expired, also before the expiry task has written it, and so has
-- one that was approved and not used in time: it has approved_at. Internal.
create or replace function iu_core.fn_approval_outcome(p_approval_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'approval_id', r.staging_record_id, 'workspace_id', r.workspace_id, 'change', c.number, 'key', a.approval_key, 'title', a.title,
    'kind', a.kind, 'kind_revision', a.kind_revision, 'form', a.form, 'policy', a.policy, 'digest', r.content_hash,
    'status', s.status, 'decided', s.status <> 'waiting',
    'requested_by', r.owner_actor, 'requested_via', r.owner_via, 'requested_at', r.created_at, 'expires_at', r.expires_at,
    'approved_at', r.approved_at,
    'decided_at', case s.status when 'approved' then r.approved_at when 'rejected' then r.rejected_at when 'withdrawn' then r.rejected_at
                                when 'expired' then coalesce(r.expired_at, r.expires_at)
                                when 'changes_requested' then (select max(o.at) from iu_core.change_review o
                                  where o.change_id = c.change_id and o.verdict = 'request_changes' and o.dismissed_at is null) end,
    -- Of whatever decided: approvals that stand, requests for changes that stand, or the rejection.
    'decisions', case when s.status in ('rejected', 'withdrawn')
      then jsonb_build_array(jsonb_build_object('verdict', case s.status when 'rejected' then 'reject' else 'withdraw' end,
                                                'by', r.rejected_by, 'via', null, 'at', r.rejected_at, 'comment', r.rejected_reason))
      else coalesce((select jsonb_agg(jsonb_build_object('verdict', o.verdict, 'by', o.reviewer, 'via', o.via, 'at', o.at, 'comment', m.body) order by o.at)
                       from iu_core.change_review o left join iu_core.change_comment m on m.comment_id = o.body_comment_id
                      where o.change_id = c.change_id and o.dismissed_at is null and o.verdict in ('approve', 'request_changes')), '[]') end,
    'answers', (select w.answers from iu_core.change_review o join iu_core.approval_answer w on w.review_id = o.review_id
                 where o.change_id = c.change_id and o.dismissed_at is null order by o.review_id desc limit 1),
    'run', (select jsonb_build_object('run_id', u.run_id, 'by', u.actor, 'status', u.status, 'started_at', u.started_at,
                                      'finished_at', u.finished_at, 'error', u.error)
              from iu_core.dot_iu_command_run u where u.run_id = r.consumed_by_run_id))
    from iu_core.approval a
    join iu_core.iu_staging_record r on r.staging_record_id = a.staging_record_id
    left join iu_core.change c on c.kind = 'record' and c.subject_id = r.staging_record_id
   cross join lateral (select case
     when r.consumed_at is not null then 'approved'
     when r.rejected_at is not null then case when r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor then 'withdrawn' else 'rejected' end
     when r.expired_at is not null or r.expires_at <= clock_timestamp() then 'expired'
     when r.approved_at is not null then 'approved'
     when iu_core.fn_change_changes_requested('record', r.staging_record_id, r.content_hash) then 'changes_requested'
     else 'waiting' end) as s (status)
   where a.staging_record_id = p_approval_id
$$;

-- For lists, under row level security.
grant execute on function iu_core.fn_approval_outcome(uuid), iu_core.fn_change_changes_requested(text, uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The workspace of a request that the caller may see; an agent sees its own. Any other gives the same error as one that is not there. Internal:
-- definer functions pass the result to require_member.
create or replace function iu_core.fn_approval_workspace(p_approval_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  a iu_core.approval;
begin
  select * into a from iu_core.approval where staging_record_id = p_approval_id;
  if not found or not iu_core.fn_workspace_is_visible(a.workspace_id)
     or (iu_core.fn_change_caller_is_agent(a.workspace_id)
         and not exists (select from iu_core.iu_staging_record r where r.staging_record_id = p_approval_id and r.owner_actor = iu_core.fn_actor())) then
    raise exception using errcode = 'SD687', message = format('There is no request for approval %s', coalesce(p_approval_id::text, 'NULL')),
      detail = json_build_object('approval', p_approval_id)::text;
  end if;
  return a.workspace_id;
end $$;

-- Wakes whoever waits for a decision. Decisions are made by people, so that a notification for each costs nothing.
create or replace function iu_core.fn_approval_notify() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('stagedoor', 'approvals ' || new.staging_record_id);
  return null;
end $$;

create or replace trigger iu_staging_record_wakes_asker
  after update of lifecycle_status on iu_core.iu_staging_record
  for each row when (new.staging_kind = 'approval' and old.lifecycle_status <> new.lifecycle_status)
  execute function iu_core.fn_approval_notify();

-- A reviewer wants something else: writes an event, which playbooks wait for, and wakes whoever asked. Records of other kinds wait on.
-- Internal: fn_change_review_request.
create or replace function iu_core.fn_approval_changes_requested(r iu_core.iu_staging_record, p_actor text, p_via text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if r.staging_kind = 'approval' then
    perform iu_core.fn_iu_staging_event_write(r, 'record_changes_requested', p_actor, p_via);
    perform pg_notify('stagedoor', 'approvals ' || r.staging_record_id);
  end if;
end $$;
