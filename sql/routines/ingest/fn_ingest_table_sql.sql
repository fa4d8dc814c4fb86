-- A table as generated SQL names it: always with its schema. As regclass prints it, a table in the search path has none, and
-- where its name stands for its row type (`null::…`) a table called date or text would be PostgreSQL's own type. Internal.
create or replace function iu_core.fn_ingest_table_sql(p_table regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = p_table
$$;
