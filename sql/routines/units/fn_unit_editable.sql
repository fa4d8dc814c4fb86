-- The unit, locked, for whoever edits the version that they have read: it must be a draft that is not deleted, and still at that
-- version. A conflict tells both hashes. Internal: whoever calls it has checked who acts.
create or replace function iu_core.fn_unit_editable(p_unit_id uuid, p_expected_version integer) returns iu_core.information_unit
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  if p_expected_version is null then
    raise exception using errcode = 'SD001', message = 'An edit names the version that it was made from';
  end if;
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status <> 'draft' or u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_locked(u);
  end if;
  perform iu_core.fn_unit_expect_version(u, p_expected_version);
  return u;
end $$;
