-- A sign of life of the reader, and how far it is.
create or replace function iu_core.fn_ingest_progress(p_upload_id uuid, p_token uuid, p_progress jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_held(p_upload_id, p_token);
  update iu_core.ingest_upload set progress = p_progress, reader_seen_at = clock_timestamp() where upload_id = p_upload_id;
end $$;

grant execute on function iu_core.fn_ingest_progress(uuid, uuid, jsonb) to service_role;
