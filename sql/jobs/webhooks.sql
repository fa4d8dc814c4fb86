-- Webhooks: targets, and the jobs that deliver to them.

-- Creates or changes a webhook target; fields that are not given stay. The keys of the object are column names: {"url":
-- "https://…" or "mailto:…", "secret": "whsec_…", "purpose": "review", "format": "json", "slack" or "teams", "workspace_id": "…",
-- "description": "…", "enabled": true}. The caller
-- provides the secret, and no function returns it. Two secrets separated by a blank, the new one first: webhooks are signed
-- with both, until the receiver has changed over.
create or replace function iu_core.fn_webhook_target_set(p_target_code text, p_target jsonb, p_actor text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_problem text;
  t iu_core.webhook_target;
  v_known boolean;
begin
  perform iu_core.require_member(
    iu_core.fn_webhook_target_lock_workspace(p_target_code, nullif(p_target ->> 'workspace_id', '')::uuid), 'administer');
  select * into t from iu_core.webhook_target where target_code = p_target_code for update;
  v_known := found;
  -- Names are global. The error says that the name is taken, but not by whom.
  if v_known and not iu_core.fn_caller_is_service() and iu_core.fn_member_role(t.workspace_id, iu_core.fn_actor()) is null then
    raise exception using errcode = 'SD001', message = format('The webhook target cannot be used: the name %s is taken', p_target_code);
  end if;
  if jsonb_typeof(p_target) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A webhook target must be a JSON object';
  end if;
  select string_agg(k, ', ') into v_problem from jsonb_object_keys(p_target) k
   where k not in ('url', 'secret', 'purpose', 'format', 'workspace_id', 'description', 'enabled');
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'A webhook target has no field called ' || v_problem;
  end if;
  v_actor := iu_core.fn_actor_for(p_actor);
  if v_known and p_target ? 'workspace_id' and (p_target ->> 'workspace_id')::uuid is distinct from t.workspace_id then
    raise exception using errcode = 'SD001', message = format('The target %s belongs to another workspace and cannot be moved', p_target_code);
  end if;
  t := jsonb_populate_record(t, p_target);
  t.target_code := p_target_code;
  t.enabled := coalesce(t.enabled, true);
  t.format := coalesce(t.format, 'json');
  v_problem := case
    when p_target_code is null or p_target_code !~ '^[a-z][a-z0-9_.-]{0,62}$' then 'its name has lowercase letters, digits and _.-, at most 63'
    when t.url is null or length(t.url) > 2000 or t.url !~ '^https?://[^\s@/]+(/\S*)?$' and t.url !~ '^mailto:[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$'
      then 'its url is http:// or https:// with a host, without a user, or mailto: and one address'
    when t.format not in ('json', 'slack', 'teams') then 'its format is json, slack or teams'
    when t.purpose is null or t.purpose not in ('review', 'alert', 'event') then 'its purpose is review, alert or event'
    -- Without the given values, because errors are logged.
    when t.secret is null or t.secret !~ '^whsec_[A-Za-z0-9+/]{32,86}={0,2}( whsec_[A-Za-z0-9+/]{32,86}={0,2})?$'
      then 'its secret is whsec_ and 24 to 64 bytes in base64' end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'The webhook target cannot be used: ' || v_problem;
  end if;
  perform iu_core.fn_require_workspace(t.workspace_id);
  if v_known then
    update iu_core.webhook_target
       set url = t.url, secret = t.secret, purpose = t.purpose, format = t.format, description = t.description, enabled = t.enabled,
           disabled_reason = case when not t.enabled then disabled_reason end,
           registered_by = v_actor.actor, registered_via = v_actor.via, changed_at = clock_timestamp()
     where target_code = p_target_code;
  else
    insert into iu_core.webhook_target (target_code, workspace_id, purpose, format, url, secret, description, enabled, registered_by, registered_via)
    values (p_target_code, t.workspace_id, t.purpose, t.format, t.url, t.secret, t.description, t.enabled, v_actor.actor, v_actor.via);
  end if;
end $$;

grant execute on function iu_core.fn_webhook_target_set(text, jsonb, text) to service_role, stagedoor_reviewer;

-- Locks a target and returns its workspace, if the caller may see it, or the given workspace for a new target. The lock keeps
-- the check valid until the change. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_webhook_target_lock_workspace(p_target_code text, p_given uuid) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select t.workspace_id into v_workspace from iu_core.webhook_target t where t.target_code = p_target_code for update;
  if found and iu_core.fn_workspace_is_visible(v_workspace) then
    return v_workspace;
  end if;
  return p_given;
end $$;

-- Deletes a target; undelivered webhooks become dead letters.
create or replace function iu_core.fn_webhook_target_delete(p_target_code text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_webhook_target_workspace(p_target_code), 'administer');
  delete from iu_core.webhook_target where target_code = p_target_code;
end $$;

grant execute on function iu_core.fn_webhook_target_delete(text) to service_role, stagedoor_reviewer;

-- Locks a target and returns its workspace, if the caller may see it; another workspace's target gives the same error as a
-- missing one. The lock keeps the check valid until the change. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_webhook_target_workspace(p_target_code text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select t.workspace_id into v_workspace from iu_core.webhook_target t where t.target_code = p_target_code for update;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD335',
      message = format('There is no webhook target %s', coalesce(p_target_code, 'NULL')),
      detail = json_build_object('target', p_target_code)::text;
  end if;
  return v_workspace;
end $$;

-- Enqueues one delivery of the type test to a target. Returns the job.
create or replace function iu_core.fn_webhook_target_test(p_target_code text) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_webhook_target_workspace(p_target_code), 'administer');
  return (select e.job_id
            from iu_core.webhook_target t,
                 iu_core.fn_job_enqueue_batch(jsonb_build_array(jsonb_build_object(
                   'job_kind', 'webhook_deliver',
                   'idempotency_key', 'test:' || gen_random_uuid(),
                   'payload_ref', 'webhook:' || t.target_code,
                   'safe_payload', jsonb_build_object('type', 'test'),
                   'workspace_id', t.workspace_id))) as e (job_id)
           where t.target_code = p_target_code);
end $$;

grant execute on function iu_core.fn_webhook_target_test(text) to service_role, stagedoor_reviewer;

-- Disables a target whose receiver answered 410 Gone, until a person enables it again.
create or replace function iu_core.fn_webhook_target_disable_gone(p_target_code text, p_reason text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.webhook_target
     set enabled = false, disabled_reason = left(p_reason, 500), changed_at = clock_timestamp()
   where target_code = p_target_code and enabled;
  return found;
end $$;

grant execute on function iu_core.fn_webhook_target_disable_gone(text, text) to dot_executor;

-- The targets of a workspace, without their secrets; without a workspace all, for the back end. Administrators only, because an
-- address may contain a token.
create or replace function iu_core.fn_webhook_targets(p_workspace_id uuid default null)
returns table (target_code text, workspace_id uuid, purpose text, format text, url text, description text, enabled boolean,
               disabled_reason text, registered_by text, registered_at timestamptz, changed_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  return query
    select t.target_code, t.workspace_id, t.purpose, t.format, t.url, t.description, t.enabled, t.disabled_reason, t.registered_by,
           t.registered_at, t.changed_at
      from iu_core.webhook_target t
     where p_workspace_id is null or t.workspace_id = p_workspace_id
     order by t.target_code;
end $$;

grant execute on function iu_core.fn_webhook_targets(uuid) to service_role, dot_executor, stagedoor_reviewer;

-- Notifies the review targets of a record that awaits approval, of an upload whose plan does, or of a change on which a review was
-- requested or somebody mentioned, by references only. Each target once for a record, whichever event led here. What was decided
-- meanwhile is skipped.
create or replace function iu_core.fn_notify_reviewers(p_ref uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  c iu_core.change;
  v_upload uuid;
begin
  select * into c from iu_core.change where change_id = p_ref;
  if found then
    if c.status not in ('draft', 'open', 'changes_requested') then
      return jsonb_build_object('skipped', 'it waits for no approval');
    end if;
    return jsonb_build_object('targets', iu_core.fn_webhook_send(
      'review', c.workspace_id, format('change:%s:%s', c.change_id, c.history_count), c.change_id::text,
      jsonb_build_object('type', 'review.requested', 'change_id', c.change_id, 'change', c.number, 'path', '/changes/' || c.number)));
  end if;
  select * into r from iu_core.iu_staging_record
   where staging_record_id in (p_ref, (select p.review_record_id from iu_core.ingest_plan p where p.upload_id = p_ref));
  if not found then
    return jsonb_build_object('skipped', 'there is no such record any more');
  elsif not r.approval_required or r.lifecycle_status <> 'pending' or r.expires_at <= clock_timestamp() then
    return jsonb_build_object('skipped', 'it waits for no approval');
  end if;
  -- The owner can write any metadata: an upload counts only if it refers to the record.
  if r.metadata ->> 'upload_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select p.upload_id into v_upload from iu_core.ingest_plan p
     where p.upload_id = (r.metadata ->> 'upload_id')::uuid and p.review_record_id = r.staging_record_id;
  end if;
  select * into c from iu_core.change where subject_id = coalesce(v_upload, r.staging_record_id);
  return jsonb_build_object('targets', iu_core.fn_webhook_send(
    'review', r.workspace_id, 'review:' || r.staging_record_id, r.staging_record_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'type', 'review.waiting', 'staging_record_id', r.staging_record_id, 'staging_kind', r.staging_kind, 'upload_id', v_upload,
      'change_id', c.change_id, 'change', c.number, 'path', coalesce('/changes/' || c.number, '/review'),
      -- The plan was approved before and has changed since: {"same", "different", …} in rows.
      'asked_again', (select coalesce(h.detail -> 'since', '{}') from iu_core.change_history h
                       where h.change_id = c.change_id and h.what = 'asked_again' and h.detail ->> 'digest' = c.digest order by h.seq desc limit 1)))));
end $$;

grant execute on function iu_core.fn_notify_reviewers(uuid) to dot_executor, service_role;

-- Enqueues one delivery for each enabled target of the purpose in this workspace or in none, in one statement. The key prevents
-- a second delivery. Returns how many targets there are. Internal.
create or replace function iu_core.fn_webhook_send(
  p_purpose text, p_workspace_id uuid, p_key text, p_target_ref text, p_safe_payload jsonb
) returns integer
language sql
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
    from iu_core.fn_job_enqueue_batch((
      select coalesce(jsonb_agg(jsonb_build_object(
               'job_kind', 'webhook_deliver',
               'idempotency_key', p_key || ':' || t.target_code,
               'target_ref', p_target_ref,
               'payload_ref', 'webhook:' || t.target_code,
               'safe_payload', p_safe_payload,
               'workspace_id', p_workspace_id) order by t.target_code), '[]')
        from iu_core.webhook_target t
       where t.enabled and t.purpose = p_purpose and (t.workspace_id is null or t.workspace_id = p_workspace_id)))
$$;
