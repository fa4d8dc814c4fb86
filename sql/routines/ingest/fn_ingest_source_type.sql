-- The type that a missing column of a row type would have, by what it is filled from. Internal.
create or replace function iu_core.fn_ingest_source_type(p_definition jsonb, p_spec jsonb, p_column text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_column = p_spec ->> 'id' then 'uuid'
              when s.source in ('$platform', '$identity') then 'text'
              when s.source like '$%' then 'uuid'
              else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end
    from (select p_spec -> 'columns' ->> p_column) as s (source)
$$;
