-- A profile, or a change of one, that a unit may have: an object without core keys at any depth, and not larger than what travels with
-- every list of units. Topics are checked where the row is written. Internal.
create or replace function iu_core.fn_unit_profile_check(p_profile jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys text[];
begin
  if p_profile = '{}' then
    return;
  end if;
  if jsonb_typeof(p_profile) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A profile is a JSON object';
  end if;
  -- At any depth: one level down it would be a second truth all the same.
  v_keys := array(select distinct k
                    from jsonb_path_query(p_profile, 'strict $.** ? (@.type() == "object")') as o,
                         jsonb_object_keys(o) as k
                   where k = any (iu_core.fn_unit_core_keys()) order by k);
  if v_keys <> '{}' then
    raise exception using
      errcode = 'SD911',
      message = format('A profile does not hold %s: the unit itself does', array_to_string(v_keys, ', ')),
      detail = json_build_object('keys', array_to_string(v_keys, ', '))::text;
  end if;
  if pg_column_size(p_profile) > 65536 then
    raise exception using errcode = 'SD001', message = 'A profile has at most 64 KiB; what is larger is text of a unit';
  end if;
end $$;
