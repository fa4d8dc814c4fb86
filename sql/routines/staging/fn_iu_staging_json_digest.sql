-- Digest and length of a JSON value over its canonical form: PostgreSQL's own jsonb text in UTF-8. It is exact
-- for any number, sorts keys, keeps the last of two equal keys; src/staging/canonical.ts makes the same bytes.
-- A few bytes of 1e131071 would become megabytes of zeros: numbers with more than 401 digits before the point or 400
-- after it are refused. Those that are long by their exponent alone (and zeros, which may be) are looked at before any
-- text is made; the rest was given digit by digit, so that its text is not much longer than what came in. There the
-- regular expression is only the quick look; a long run of digits inside a string is innocent. Arrays, because the
-- time of jsonb_path_query grows with the square of what it finds.
create or replace function iu_core.fn_iu_staging_json_digest(p_json jsonb, out content_hash text, out byte_len bigint)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_suspects jsonb;
  v_too_long boolean;
  v_text text;
  v_bytes bytea;
begin
  if p_json is null then
    raise exception using errcode = 'SD506', message = 'A JSON part needs a value';
  end if;
  if jsonb_path_exists(p_json, 'strict $.**{101}') then
    raise exception using errcode = 'SD506', message = 'JSON nested more than 100 deep is refused';
  end if;
  v_suspects := jsonb_path_query_array(p_json, 'strict $.** ? (@ >= 1e401 || (@ < 1e-400 && (@ > -1e-400 || @ <= -1e401)))');
  v_too_long := exists (select from jsonb_array_elements(v_suspects) as n (value)
                         where abs(value::numeric) >= 1e401 or scale(value::numeric) > 400);
  if not v_too_long then
    v_text := p_json::text;
    v_too_long := v_text ~ '[0-9]{255}' and exists (
      select from jsonb_array_elements(jsonb_path_query_array(p_json, 'strict $.** ? (@.type() == "number")')) as n (value)
       where abs(value::numeric) >= 1e401 or scale(value::numeric) > 400);
  end if;
  if v_too_long then
    raise exception using errcode = 'SD506',
      message = 'A number has more than 401 digits before the point or 400 after it';
  end if;
  v_bytes := convert_to(v_text, 'UTF8');
  content_hash := encode(sha256(v_bytes), 'hex');
  byte_len := octet_length(v_bytes);
end $$;
