-- How lines with the same key are treated: as the upload says, else as its dataset does. refuse: none is taken; sum: one row
-- with the sum of what may be summed; last, first: that one, and the others are left out. Internal.
create or replace function iu_core.fn_ingest_repeated_keys(p_upload iu_core.ingest_upload, p_definition jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_upload.repeated_keys,
                  (select spec ->> 'duplicates' from jsonb_array_elements(p_definition -> 'rows') as spec
                    where spec ->> 'name' = p_upload.reading -> 'layout' ->> 'leaf'),
                  'refuse')
$$;
