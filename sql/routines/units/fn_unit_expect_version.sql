-- Is the unit still at the version that somebody has read? If not, both hashes are told, so that both texts can be found.
-- Internal.
create or replace function iu_core.fn_unit_expect_version(u iu_core.information_unit, p_expected_version integer) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_expected_hash text;
begin
  if u.version_no = p_expected_version then
    return;
  end if;
  select content_hash into v_expected_hash from iu_core.unit_version where unit_id = u.unit_id and version_no = p_expected_version;
  raise exception using
    errcode = 'SD902',
    message = format('The unit %s is at version %s (%s), not at %s (%s)', u.unit_id, u.version_no, u.content_hash, p_expected_version,
                     coalesce(v_expected_hash, 'which never was')),
    detail = json_build_object('unit', u.unit_id, 'expected_version', p_expected_version, 'expected_hash', v_expected_hash,
                               'current_version', u.version_no, 'current_hash', u.content_hash)::text;
end $$;
