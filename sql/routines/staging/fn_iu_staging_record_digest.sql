-- The digest of a record over its parts in order: name (with its length, so that nothing can be shifted from one
-- field into the next), kind and digest of each.
create or replace function iu_core.fn_iu_staging_record_digest(p_part_digests jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select encode(sha256(convert_to(string_agg(
             format('%s:%s:%s:%s', octet_length(convert_to(d ->> 'part_name', 'UTF8')), d ->> 'part_name',
                    d ->> 'payload_kind', d ->> 'content_hash'),
             e'\n' order by position), 'UTF8')), 'hex')
      from jsonb_array_elements(p_part_digests) with ordinality as t (d, position));
end $$;
