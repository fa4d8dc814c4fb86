-- A reviewer says no, with a reason. The upload stays planned: it can be repaired and planned again.
create or replace function iu_core.fn_ingest_reject(p_upload_id uuid, p_reason text, p_rejected_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_rejected_by);
  if p_reason is null or p_reason !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A rejection needs a reason';
  end if;
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'rejected');
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if v_plan.review_record_id is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_iu_staging_end(v_plan.review_record_id, v_actor.actor, p_reason);
  perform iu_core.fn_event_emit('staging', 'ingestion_rejected',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_rejected_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_plan.review_record_id,
                                         'plan_digest', v_plan.digest));
end $$;

grant execute on function iu_core.fn_ingest_reject(uuid, text, text) to service_role, stagedoor_reviewer;
