-- The promotion of an upload that can still be undone, or an error that says why not. Internal.
create or replace function iu_core.fn_ingest_undoable(p_upload_id uuid) returns iu_core.ingest_promotion
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_promotion iu_core.ingest_promotion;
  v_status text;
begin
  select status into v_status from iu_core.ingest_upload where upload_id = p_upload_id;
  if v_status <> 'promoted' then
    raise exception using
      errcode = 'SD602',
      message = case v_status when 'undone' then format('Upload %s is undone already', p_upload_id)
                     else format('Upload %s is %s and was never promoted: there is nothing to undo', p_upload_id, v_status) end,
      detail = json_build_object('upload', p_upload_id, 'status', v_status, 'action', 'undone')::text;
  end if;
  select * into v_promotion from iu_core.ingest_promotion where upload_id = p_upload_id;
  if v_promotion.undo_until <= clock_timestamp() or v_promotion.images_dropped_at is not null then
    raise exception using
      errcode = 'SD609',
      message = format('Upload %s could be undone until %s', p_upload_id, v_promotion.undo_until),
      detail = json_build_object('upload', p_upload_id, 'until', v_promotion.undo_until)::text;
  end if;
  return v_promotion;
end $$;
