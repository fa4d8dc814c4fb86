-- The column of `ingest_line` that holds a field (f1, f2, …) or, for `$<row type>`, the external id of its entity (e1, e2, …).
-- By position, so that no name of a declaration can meet a column or an alias of ours, and none is cut off. Internal.
create or replace function iu_core.fn_ingest_line_column(p_layout jsonb, p_source text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_source like '$%' then
    'e' || (select min(r.position) from jsonb_array_elements_text(p_layout -> 'row_types') with ordinality as r (name, position)
             where r.name = substr(p_source, 2))
  else
    'f' || (select min(f.position) from jsonb_array_elements_text(p_layout -> 'fields') with ordinality as f (name, position)
             where f.name = p_source)
  end
$$;
