-- The targets of a workspace, without their secrets; for the back end without one: all. For administrators only, because an
-- address may hold a token.
create or replace function iu_core.fn_webhook_targets(p_workspace_id uuid default null)
returns table (target_code text, workspace_id uuid, purpose text, url text, description text, enabled boolean,
               disabled_reason text, registered_by text, registered_at timestamptz, changed_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  return query
    select t.target_code, t.workspace_id, t.purpose, t.url, t.description, t.enabled, t.disabled_reason, t.registered_by,
           t.registered_at, t.changed_at
      from iu_core.webhook_target t
     where p_workspace_id is null or t.workspace_id = p_workspace_id
     order by t.target_code;
end $$;

grant execute on function iu_core.fn_webhook_targets(uuid) to service_role, dot_executor, stagedoor_reviewer;
