-- What a column of a row type is filled from, as SQL. In it `l` is a line, `e` the entity, `p_e1`, `p_e2`, … are parent entities.
-- NULL: the file does not have it. Internal; everything that comes from a declaration is quoted.
create or replace function iu_core.fn_ingest_source_sql(
  p_source text, p_layout jsonb, p_upload iu_core.ingest_upload
) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_source = '$client' then format('%L::uuid', p_upload.client_id)
    when p_source = '$workspace' then format('%L::uuid', p_upload.workspace_id)
    when p_source = '$platform' then format('%L', p_upload.platform)
    when p_source = '$identity' then 'e.external_id'
    when p_source like '$%' and p_layout -> 'row_types' ? substr(p_source, 2)
      then format('p_%s.internal_id', iu_core.fn_ingest_line_column(p_layout, p_source))
    when p_layout -> 'fields' ? p_source then 'l.' || iu_core.fn_ingest_line_column(p_layout, p_source)
  end
$$;
