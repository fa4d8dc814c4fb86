-- What a unit is born with, before anything is written: each wrong argument gets the error that names it. The constraints of
-- the tables say the same to whoever writes without a function. Internal.
create or replace function iu_core.fn_unit_birth_check(
  p_canonical_address text,
  p_body text,
  p_title text,
  p_unit_kind text,
  p_language text,
  p_source_ref text,
  p_profile jsonb
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_canonical_address is null or length(p_canonical_address) > 400
     or p_canonical_address !~ '^[a-z0-9][a-z0-9_.~-]*(/[a-z0-9][a-z0-9_.~-]*)*$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not an address: it is a path such as handbook/leave of a–z, 0–9 and _.~-, at most 400 characters',
                       left(p_canonical_address, 80));
  end if;
  perform iu_core.fn_unit_body_check(p_body), iu_core.fn_unit_words_check(p_title, p_language), iu_core.fn_unit_profile_check(p_profile),
    iu_core.fn_unit_kind_check(p_unit_kind);
  if p_source_ref !~ '\S' or length(p_source_ref) > 2000 then
    raise exception using errcode = 'SD001', message = 'A source has between one and 2000 characters';
  end if;
end $$;
