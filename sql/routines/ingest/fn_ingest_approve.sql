-- A second person approves exactly the plan that they saw, ticking what they looked at.
create or replace function iu_core.fn_ingest_approve(
  p_upload_id uuid, p_plan_digest text, p_ticked text[] default '{}', p_approved_by text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_actor record;
  v_stale record;
  v_item text;
  v_open text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_approved_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'approved');
  v_plan := iu_core.fn_ingest_plan_seen(p_upload_id, p_plan_digest);
  if v_plan.review_record_id is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_ingest_four_eyes(u, v_plan.review_record_id, v_actor);
  -- Promotion would refuse it, too; whoever approves must hear it before they vouch for rows that are no longer so.
  select * into v_stale from iu_core.fn_ingest_plan_stale(p_upload_id, 1);
  if found then
    perform iu_core.fn_ingest_refuse_stale(p_upload_id, v_stale.total, v_stale.target_table, v_stale.line);
  end if;
  foreach v_item in array coalesce(p_ticked, '{}') loop
    perform iu_core.fn_iu_staging_tick_as(v_plan.review_record_id, v_item, true, v_actor.actor, null);
  end loop;
  -- Said here, because the staging zone does not know how an upload's boxes are ticked.
  select string_agg(c.item_id, ', ') filter (where c.ticked_at is null) into v_open
    from iu_core.fn_iu_staging_checklist(v_plan.review_record_id) c where c.required;
  if v_open is not null then
    raise exception using
      errcode = 'SD509',
      message = format('The checklist of upload %s has open items: %s', p_upload_id, v_open),
      hint = format('Look at what they say, then tick all of them in one go: --tick %s', (
        select string_agg(c.item_id, ',') from iu_core.fn_iu_staging_checklist(v_plan.review_record_id) c where c.required)),
      detail = json_build_object('record', v_plan.review_record_id, 'items', v_open)::text;
  end if;
  perform iu_core.fn_iu_staging_approve(
    v_plan.review_record_id,
    (select content_hash from iu_core.iu_staging_record where staging_record_id = v_plan.review_record_id),
    p_approved_by);
  perform iu_core.fn_event_emit('staging', 'ingestion_approved',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_approved_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_plan.review_record_id,
                                         'plan_digest', v_plan.digest));
end $$;

grant execute on function iu_core.fn_ingest_approve(uuid, text, text[], text) to service_role, stagedoor_reviewer;
