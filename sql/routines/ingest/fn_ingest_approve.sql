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
  v_item text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'approved');
  v_plan := iu_core.fn_ingest_plan_seen(p_upload_id, p_plan_digest);
  if v_plan.review_record_id is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_ingest_four_eyes(u, v_plan.review_record_id, iu_core.fn_actor_for(p_approved_by));
  foreach v_item in array coalesce(p_ticked, '{}') loop
    perform iu_core.fn_iu_staging_tick(v_plan.review_record_id, v_item, true, null);
  end loop;
  perform iu_core.fn_iu_staging_approve(
    v_plan.review_record_id,
    (select content_hash from iu_core.iu_staging_record where staging_record_id = v_plan.review_record_id),
    p_approved_by);
end $$;

grant execute on function iu_core.fn_ingest_approve(uuid, text, text[], text) to service_role, stagedoor_reviewer;
