-- Internal: where a key column cannot be NULL, plain equality finds the same rows and can be hashed.
create or replace function iu_core.fn_ingest_column_not_null(p_table regclass, p_column text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select attnotnull from pg_attribute where attrelid = p_table and attname = p_column and not attisdropped
$$;
