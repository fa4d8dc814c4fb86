-- Whoever uploaded or corrected a line, or said what its headers or values mean, does not approve it, whoever handed the plan in. Internal.
create or replace function iu_core.fn_ingest_four_eyes(p_upload iu_core.ingest_upload, p_review_record_id uuid, p_approver record)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Who acts for another counts as much as the one who is named.
  v_changed constant text[] := array(select lower(c) from unnest(p_upload.changed_by) c);
  v_own constant text := case when lower(p_approver.actor) = any (v_changed) then p_approver.actor
                              when lower(p_approver.via) = any (v_changed) then p_approver.via end;
begin
  if (select four_eyes from iu_core.iu_staging_record where staging_record_id = p_review_record_id)
     and v_own is not null then
    raise exception using
      errcode = 'SD508',
      message = format('Upload %s holds what %s put into it; somebody else must decide', p_upload.upload_id, v_own)
                || case when v_own <> p_approver.actor then format(', and not through %s', v_own) else '' end,
      detail = json_build_object('record', p_review_record_id)::text;
  end if;
end $$;
