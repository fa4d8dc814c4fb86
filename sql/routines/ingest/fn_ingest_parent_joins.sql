-- Joins a line `l` with the parents that a row type refers to and that the file has, each under the alias that
-- fn_ingest_source_sql uses: `p_` and the parent's column in `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_parent_joins(p_spec jsonb, p_layout jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg(format(
           'left join pg_temp.ingest_entity %1$I on %1$I.row_type = %2$L and %1$I.external_id = l.%3$I',
           'p_' || iu_core.fn_ingest_line_column(p_layout, '$' || parent), parent,
           iu_core.fn_ingest_line_column(p_layout, '$' || parent)), ' '), '')
    from (select distinct substr(value, 2) as parent from jsonb_each_text(p_spec -> 'columns') where value like '$%') s
   where p_layout -> 'row_types' ? parent and parent <> p_spec ->> 'name'
$$;
