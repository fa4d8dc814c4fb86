-- Digest and length of a JSON value over its canonical form: PostgreSQL's own jsonb text in UTF-8. It is exact
-- for any number, sorts keys, keeps the last of two equal keys; src/staging/canonical.ts makes the same bytes.
-- A few bytes of 1e131071 would become megabytes of zeros: numbers with more than 401 digits before the point or 400
-- after it are refused. The regular expression is only the quick look (10 MB in 0.1 s); a long run of digits inside
-- a string is innocent.
create or replace function iu_core.fn_iu_staging_json_digest(p_json jsonb, out content_hash text, out byte_len bigint)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
  v_bytes bytea;
begin
  if p_json is null then
    raise exception using errcode = 'SD506', message = 'A JSON part needs a value';
  end if;
  if jsonb_path_exists(p_json, 'strict $.**{101}') then
    raise exception using errcode = 'SD506', message = 'JSON nested more than 100 deep is refused';
  end if;
  v_text := p_json::text;
  if v_text ~ '[0-9]{255}' and exists (
       select from jsonb_path_query(p_json, 'strict $.** ? (@.type() == "number")') as n (value)
        where length(split_part(ltrim(value::text, '-'), '.', 1)) > 401 or length(split_part(value::text, '.', 2)) > 400) then
    raise exception using errcode = 'SD506',
      message = 'A number has more than 401 digits before the point or 400 after it';
  end if;
  v_bytes := convert_to(v_text, 'UTF8');
  content_hash := encode(sha256(v_bytes), 'hex');
  byte_len := octet_length(v_bytes);
end $$;
