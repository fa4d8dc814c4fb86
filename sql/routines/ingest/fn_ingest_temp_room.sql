-- Room in memory for the temporary tables of about 100,000 lines: with PostgreSQL's own 8 MB every pass over them reads a file.
-- It can only be asked for before a session has had any; one that has keeps the room that it had then. Internal.
create or replace function iu_core.fn_ingest_temp_room() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('temp_buffers', '64MB', true);
exception when invalid_parameter_value then
  null;
end $$;
