-- Every table that a declaration names. Internal.
create or replace function iu_core.fn_ingest_dataset_tables(p_definition jsonb) returns setof text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select distinct t
    from (select spec ->> 'target' as t from jsonb_array_elements(p_definition -> 'rows') spec
          union all select p_definition -> 'client' ->> 'table'
          union all select p_definition ->> 'uploads') n
   where t is not null
$$;
