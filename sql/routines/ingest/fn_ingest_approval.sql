-- The approval that a plan has, or an error: nothing is promoted without the one that its dataset asks for. Internal.
create or replace function iu_core.fn_ingest_approval(p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan)
returns iu_core.iu_staging_record
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_approver record;
  v_state text;
begin
  select * into r from iu_core.iu_staging_record where staging_record_id = p_plan.review_record_id;
  if r.lifecycle_status = 'approved' and r.expires_at > clock_timestamp() then
    -- Asked here, too: the record may have been approved in the staging zone, without the upload being looked at.
    select r.approved_by as actor, r.approved_via as via into v_approver;
    perform iu_core.fn_ingest_four_eyes(p_upload, r.staging_record_id, v_approver);
    return r;
  end if;
  v_state := case when p_plan.review_record_id is null then 'the plan was not submitted yet'
                  when r.lifecycle_status = 'approved' then 'the approval has expired'
                  when r.lifecycle_status = 'pending' then 'nobody has decided yet'
                  else 'it was ' || r.lifecycle_status end;
  raise exception using
    errcode = 'SD608',
    message = format('Upload %s needs the approval of a second person: %s', p_upload.upload_id, v_state),
    detail = json_build_object('upload', p_upload.upload_id, 'reason', v_state)::text;
end $$;
