-- Whoever uploaded or corrected a line does not approve it, whoever handed the plan in. Internal.
create or replace function iu_core.fn_ingest_four_eyes(p_upload iu_core.ingest_upload, p_review_record_id uuid, p_approver record)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select four_eyes from iu_core.iu_staging_record where staging_record_id = p_review_record_id)
     and (p_approver.actor = any (p_upload.changed_by) or p_approver.via = any (p_upload.changed_by)) then
    raise exception using
      errcode = 'SD508',
      message = format('Upload %s holds what %s put into it; somebody else must decide', p_upload.upload_id, p_approver.actor),
      detail = json_build_object('record', p_review_record_id)::text;
  end if;
end $$;
