-- The reader says that the file cannot be read: {"code", "message", "hint"}.
create or replace function iu_core.fn_ingest_fail(p_upload_id uuid, p_token uuid, p_error jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_held(p_upload_id, p_token);
  perform iu_core.fn_ingest_end_reading(p_upload_id, p_error);
end $$;

grant execute on function iu_core.fn_ingest_fail(uuid, uuid, jsonb) to service_role;
