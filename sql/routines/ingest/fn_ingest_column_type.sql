-- The type that a value gets on its way into a column. Texts without their length: a cast would cut them without a word,
-- while the table itself refuses what is too long. Internal.
create or replace function iu_core.fn_ingest_column_type(p_column pg_attribute) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_column.atttypid in ('varchar'::regtype, 'bpchar'::regtype) then format_type(p_column.atttypid, -1)
              else format_type(p_column.atttypid, p_column.atttypmod) end
$$;
