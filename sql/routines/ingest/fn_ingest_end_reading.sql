-- reading → failed: says why, and leaves no row behind. The caller holds the upload's lock. Internal.
create or replace function iu_core.fn_ingest_end_reading(p_upload_id uuid, p_error jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  delete from public.staging_rows where upload_id = p_upload_id;
  update iu_core.ingest_upload
     set status = 'failed', error = p_error, reader_token = null, reader_seen_at = null, progress = null,
         ended_at = clock_timestamp()
   where upload_id = p_upload_id returning * into u;
  perform iu_core.fn_ingest_tell_uploads_table(p_upload_id, 'failed', null);
  perform iu_core.fn_event_emit('staging', 'ingestion_failed',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
                                         'code', p_error ->> 'code'));
end $$;
