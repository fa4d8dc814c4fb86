-- updated_at is kept by whoever updates a row; this only steps in for an update by hand that forgot. Our own statements
-- set it, so on the bulk path the condition is all that is evaluated.
create or replace function iu_core.fn_ingest_touch() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end $$;

create or replace trigger staging_rows_updated_at before update on public.staging_rows
  for each row when (new.updated_at = old.updated_at) execute function iu_core.fn_ingest_touch();
create or replace trigger staging_id_resolution_updated_at before update on public.staging_id_resolution
  for each row when (new.updated_at = old.updated_at) execute function iu_core.fn_ingest_touch();
