-- Those who said what the headers of a file mean, or the values of its fields, as far as the file has them. Headers are compared without
-- case, signs and what is in brackets: rather one author too many than one too few. Internal.
create or replace function iu_core.fn_ingest_mapping_authors(p_upload iu_core.ingest_upload, p_reading jsonb) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with file (header) as (
    select regexp_replace(lower(h), '\([^)]*\)|\[[^]]*\]|[^[:alnum:]]', '', 'g')
      from jsonb_array_elements_text(case jsonb_typeof(p_reading -> 'headers') when 'array' then p_reading -> 'headers' else '[]' end) h
  ), mapping as (
    select m.header_by, m.value_by from iu_core.ingest_mapping m
     where (m.workspace_id, m.dataset, m.platform) = (p_upload.workspace_id, p_upload.dataset, p_upload.platform)
  )
  select coalesce(array_agg(distinct author), '{}') from (
    select h.value as author from mapping, jsonb_each_text(header_by) h
     where regexp_replace(lower(h.key), '\([^)]*\)|\[[^]]*\]|[^[:alnum:]]', '', 'g') in (select header from file)
    union
    select v.value from mapping, jsonb_each_text(value_by) v where p_reading -> 'map' -> 'fields' ? v.key
  ) authors
$$;
