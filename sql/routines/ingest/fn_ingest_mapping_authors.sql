-- Those who said what the headers of a file mean, or the values of its fields, as far as the file has them. Headers are compared as the
-- reader compares them, and more broadly: without case, accents, forms of a letter, signs, what is in brackets and a currency at the end.
-- Rather one author too many than one too few. Internal.
create or replace function iu_core.fn_ingest_mapping_authors(p_upload iu_core.ingest_upload, p_reading jsonb) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with mapping as (
    select m.header_by, m.value_by from iu_core.ingest_mapping m
     where (m.workspace_id, m.dataset, m.platform) = (p_upload.workspace_id, p_upload.dataset, p_upload.platform)
  ), named (header, author) as (
    select h, null from jsonb_array_elements_text(case jsonb_typeof(p_reading -> 'headers') when 'array' then p_reading -> 'headers' else '[]' end) h
    union all
    select h.key, h.value from mapping, jsonb_each_text(header_by) h
  ), compared (key, author) as (
    select regexp_replace(
             translate(lower(regexp_replace(normalize(header, NFKD), '\([^)]*\)|\[[^]]*\]|[[:space:],:]+[A-Z]{3}[[:space:]]*$', '', 'g')), 'đ', 'd'),
             '[^[:alnum:]]', '', 'g'), author
      from named
  )
  select coalesce(array_agg(distinct author), '{}') from (
    select by.author from compared by join compared file on file.key = by.key and file.author is null where by.author is not null
    union
    select v.value from mapping, jsonb_each_text(value_by) v where p_reading -> 'map' -> 'fields' ? v.key
  ) authors
$$;
