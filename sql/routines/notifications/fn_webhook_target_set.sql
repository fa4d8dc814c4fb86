-- Registers a target of webhooks, or changes one; what is not named stays. The object's keys are the columns' names:
-- {"url": "https://…", "secret": "whsec_…", "purpose": "review", "workspace_id": "…", "description": "…", "enabled": true}.
-- The secret comes from the caller and never goes back: nothing answers it. Two of them with a blank between, the new one
-- first: webhooks are signed with both, until the receiver has changed over.
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
    iu_core.fn_webhook_target_place(p_target_code, nullif(p_target ->> 'workspace_id', '')::uuid), 'administer');
  select * into t from iu_core.webhook_target where target_code = p_target_code for update;
  v_known := found;
  -- Names are the whole installation's. That it is taken has to be said, but not by whom.
  if v_known and not iu_core.fn_caller_is_service() and iu_core.fn_member_role(t.workspace_id, iu_core.fn_actor()) is null then
    raise exception using errcode = 'SD001', message = format('The webhook target cannot be used: the name %s is taken', p_target_code);
  end if;
  if jsonb_typeof(p_target) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A webhook target is given as a JSON object';
  end if;
  select string_agg(k, ', ') into v_problem from jsonb_object_keys(p_target) k
   where k not in ('url', 'secret', 'purpose', 'workspace_id', 'description', 'enabled');
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'A webhook target has no field called ' || v_problem;
  end if;
  v_actor := iu_core.fn_actor_for(p_actor);
  if v_known and p_target ? 'workspace_id' and (p_target ->> 'workspace_id')::uuid is distinct from t.workspace_id then
    raise exception using errcode = 'SD001', message = format('The target %s belongs to another workspace, and stays there', p_target_code);
  end if;
  t := jsonb_populate_record(t, p_target);
  t.target_code := p_target_code;
  t.enabled := coalesce(t.enabled, true);
  v_problem := case
    when p_target_code is null or p_target_code !~ '^[a-z][a-z0-9_.-]{0,62}$' then 'its name has lowercase letters, digits and _.-, at most 63'
    when t.url is null or t.url !~ '^https?://[^\s@/]+(/\S*)?$' or length(t.url) > 2000 then 'its url is http:// or https:// with a host, without a user'
    when t.purpose is null or t.purpose not in ('review', 'alert', 'event') then 'its purpose is review, alert or event'
    -- Without what was given: an error is logged.
    when t.secret is null or t.secret !~ '^whsec_[A-Za-z0-9+/]{32,86}={0,2}( whsec_[A-Za-z0-9+/]{32,86}={0,2})?$'
      then 'its secret is whsec_ and 24 to 64 bytes in base64' end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'The webhook target cannot be used: ' || v_problem;
  end if;
  perform iu_core.fn_require_workspace(t.workspace_id);
  if v_known then
    update iu_core.webhook_target
       set url = t.url, secret = t.secret, purpose = t.purpose, description = t.description, enabled = t.enabled,
           disabled_reason = case when not t.enabled then disabled_reason end,
           registered_by = v_actor.actor, registered_via = v_actor.via, changed_at = clock_timestamp()
     where target_code = p_target_code;
  else
    insert into iu_core.webhook_target (target_code, workspace_id, purpose, url, secret, description, enabled, registered_by, registered_via)
    values (p_target_code, t.workspace_id, t.purpose, t.url, t.secret, t.description, t.enabled, v_actor.actor, v_actor.via);
  end if;
end $$;

grant execute on function iu_core.fn_webhook_target_set(text, jsonb, text) to service_role, stagedoor_reviewer;
