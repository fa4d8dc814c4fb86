-- An idempotency key from where something came from: a digest over a length-prefixed tuple, so that
-- ('ab', 'c') and ('a', 'bc') differ, and NULL differs from the empty text.
create or replace function iu_core.fn_iu_staging_key(variadic p_parts text[]) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_parts), 0) = 0 then
    raise exception using errcode = 'SD001', message = 'A key needs at least one part';
  end if;
  return (
    select encode(sha256(convert_to(string_agg(
             coalesce(octet_length(convert_to(part, 'UTF8')) || ':' || part, '-'), ',' order by position), 'UTF8')), 'hex')
      from unnest(p_parts) with ordinality as t (part, position));
end $$;

grant execute on function iu_core.fn_iu_staging_key(text[]) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
