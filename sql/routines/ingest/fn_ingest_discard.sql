-- Throws an upload away that was not promoted: its lines, its plan. The upload itself stays as a line in the list.
create or replace function iu_core.fn_ingest_discard(p_upload_id uuid, p_discarded_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_actor_for(p_discarded_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned', 'failed'], 'discarded');
  perform iu_core.fn_ingest_plan_forget(u);
  delete from public.staging_rows where upload_id = p_upload_id;
  update iu_core.ingest_upload set status = 'discarded', ended_at = clock_timestamp() where upload_id = p_upload_id;
  perform iu_core.fn_ingest_tell_uploads_table(p_upload_id, 'failed', null);
  perform iu_core.fn_event_emit('staging', 'ingestion_discarded',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_discarded_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform));
end $$;

grant execute on function iu_core.fn_ingest_discard(uuid, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
