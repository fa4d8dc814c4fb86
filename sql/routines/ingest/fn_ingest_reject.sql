-- A reviewer says no, with a reason. The upload stays planned: it can be repaired and planned again.
create or replace function iu_core.fn_ingest_reject(p_upload_id uuid, p_reason text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_review uuid;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'rejected');
  select review_record_id into v_review from iu_core.ingest_plan where upload_id = p_upload_id;
  if v_review is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_iu_staging_reject(v_review, p_reason);
end $$;

grant execute on function iu_core.fn_ingest_reject(uuid, text) to service_role, stagedoor_reviewer;
