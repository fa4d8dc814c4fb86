-- Promotions that can no longer be undone lose their images and their plan; where each row came from stays. One promotion
-- a call; returns how many rows it took, NULL when there is none left. For maintenance.
create or replace function iu_core.fn_ingest_images_drop() returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_upload uuid;
  v_rows bigint;
begin
  select upload_id into v_upload from iu_core.ingest_promotion
   where images_dropped_at is null and (undo_until < clock_timestamp() or undone_at < clock_timestamp() - interval '7 days')
   order by promoted_at limit 1 for update skip locked;
  if not found then
    return null;
  end if;
  delete from iu_core.ingest_plan_row where upload_id = v_upload;
  update iu_core.ingest_ledger set before = null, after_hash = null where upload_id = v_upload;
  get diagnostics v_rows = row_count;
  update iu_core.ingest_promotion set images_dropped_at = clock_timestamp() where upload_id = v_upload;
  return v_rows;
end $$;

grant execute on function iu_core.fn_ingest_images_drop() to service_role, dot_executor;
