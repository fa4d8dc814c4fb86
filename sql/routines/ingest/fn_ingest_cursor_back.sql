-- The cursor goes back with the promotion that moved it, so that the next pull fetches again what was taken out. If a later
-- pull has moved it since, it stays. Pulls that were undone in the meantime are passed over. Internal.
create or replace function iu_core.fn_ingest_cursor_back(p_upload_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb;
  v_promotion iu_core.ingest_promotion;
begin
  perform from iu_core.ingest_cursor where upload_id = p_upload_id for update;
  if not found then
    return;
  end if;
  select cursor_before into v_before from iu_core.ingest_promotion where upload_id = p_upload_id;
  loop
    select * into v_promotion from iu_core.ingest_promotion where upload_id = (v_before ->> 'upload_id')::uuid;
    exit when v_before is null or v_promotion.undone_at is null;
    v_before := v_promotion.cursor_before;
  end loop;
  if v_before is null then
    delete from iu_core.ingest_cursor where upload_id = p_upload_id;
  else
    update iu_core.ingest_cursor
       set cursor_value = v_before -> 'value', upload_id = (v_before ->> 'upload_id')::uuid, committed_at = clock_timestamp()
     where upload_id = p_upload_id;
  end if;
end $$;
