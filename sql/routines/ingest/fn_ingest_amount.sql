-- A value of a column, as its JSON has it, as a number of control totals; NULL: it is none. A measure may be written into a column
-- of texts, where somebody may have written anything. Internal.
create or replace function iu_core.fn_ingest_amount(p_text text, p_type regtype) returns numeric
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_text ~ '^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?\s*$' or p_text in ('NaN', 'Infinity', '-Infinity')
                then p_text::numeric
              when p_type = 'money'::regtype then p_text::money::numeric end
$$;
