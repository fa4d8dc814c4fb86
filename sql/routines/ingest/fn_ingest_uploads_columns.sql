-- What a table that is told of uploads must have, as public.data_uploads has it. Internal.
create or replace function iu_core.fn_ingest_uploads_columns() returns table (column_name text, type text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  values ('id', 'uuid'), ('workspace_id', 'uuid'), ('client_id', 'uuid'), ('platform', 'text'), ('file_name', 'text'),
         ('status', 'text'), ('row_count', 'bigint')
$$;
