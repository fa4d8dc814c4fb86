-- The place of a row type in its dataset: parents before children. Internal.
create or replace function iu_core.fn_ingest_type_order(p_definition jsonb, p_row_type text) returns smallint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select t.ordinality::smallint from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality)
   where t.spec ->> 'name' = p_row_type
$$;
