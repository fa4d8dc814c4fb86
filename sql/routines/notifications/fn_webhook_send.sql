-- One delivery for each enabled target of the purpose that is of this workspace or of all, in one statement. The key keeps
-- a second run from telling twice. Returns how many targets there are. Internal.
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
