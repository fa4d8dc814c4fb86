-- Uploads whose reader has been silent for a minute have failed: the process died. Returns how many. Internal and for
-- maintenance.
create or replace function iu_core.fn_ingest_sweep(p_workspace_id uuid default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_upload uuid;
  v_count integer := 0;
begin
  for v_upload in
    select upload_id from iu_core.ingest_upload
     where status = 'reading' and reader_seen_at < clock_timestamp() - interval '1 minute'
       and (p_workspace_id is null or workspace_id = p_workspace_id)
     order by upload_id for update skip locked
  loop
    perform iu_core.fn_ingest_end_reading(
      v_upload, '{"code": "reader_gone", "message": "The process that read this file ended before it was done.", "hint": "Upload the file again."}');
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_sweep(uuid) to service_role, dot_executor;
