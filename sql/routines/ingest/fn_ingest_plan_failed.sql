-- An upload that was to be planned right after it was read, and could not be: it stays staged, and says why until it is
-- planned. {"code", "message", "hint"}. For the back end.
create or replace function iu_core.fn_ingest_plan_failed(p_upload_id uuid, p_error jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  update iu_core.ingest_upload set error = p_error where upload_id = p_upload_id and status = 'staged';
end $$;

grant execute on function iu_core.fn_ingest_plan_failed(uuid, jsonb) to service_role;
