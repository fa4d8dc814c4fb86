-- Whether the key of a row type leads to one workspace: it holds the client or the workspace itself, or a parent that every
-- row has. A parent's column that can be NULL leads nowhere: a file without that parent would meet everybody's rows without
-- one. Asked when a dataset is registered and again with every plan, since a table can lose its NOT NULL. Internal.
create or replace function iu_core.fn_ingest_key_walled(p_definition jsonb, p_spec jsonb) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from jsonb_array_elements_text(p_spec -> 'key') k, lateral (select p_spec -> 'columns' ->> k) as s (source)
     where s.source in ('$client', '$workspace')
        or (iu_core.fn_ingest_column_not_null(to_regclass(p_spec ->> 'target'), k)
            and exists (select from jsonb_array_elements(p_definition -> 'rows') p
                         where s.source = '$' || (p ->> 'name') and p ->> 'name' <> p_spec ->> 'name' and p ? 'identity')))
$$;
