-- updated_at is when a row was last written, whatever the statement says. Before the row is written, so that RETURNING and other
-- triggers see it. Our own statements set it to now(), so on the bulk path the condition is all that is evaluated.
create or replace function iu_core.fn_ingest_touch() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.updated_at := now();
  return new;
end $$;

create or replace trigger staging_rows_updated_at before update on public.staging_rows
  for each row when (new.updated_at is distinct from now()) execute function iu_core.fn_ingest_touch();
create or replace trigger staging_id_resolution_updated_at before update on public.staging_id_resolution
  for each row when (new.updated_at is distinct from now()) execute function iu_core.fn_ingest_touch();
