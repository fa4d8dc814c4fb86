-- The columns that the target tables have now: {"columns": {target: [column, …]}}. Kept with a promotion, so that a column
-- that is added later is no change of a row. Internal.
create or replace function iu_core.fn_ingest_table_columns(p_definition jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('columns', coalesce(jsonb_object_agg(t.target, t.columns), '{}'))
    from (select spec ->> 'target' as target, jsonb_agg(a.attname order by a.attnum) as columns
            from jsonb_array_elements(p_definition -> 'rows') spec
            join pg_attribute a on a.attrelid = to_regclass(spec ->> 'target') and a.attnum > 0 and not a.attisdropped
           group by spec ->> 'target', spec ->> 'name') t
$$;
