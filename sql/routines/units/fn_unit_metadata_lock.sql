-- The unit, kept from any change of its lifecycle until the end of the transaction. Edges, container and order may change
-- while it is draft or enacted; what is superseded, retired or deleted stays as it is. Internal.
create or replace function iu_core.fn_unit_metadata_lock(p_unit_id uuid) returns iu_core.information_unit
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
begin
  select * into u from iu_core.information_unit where unit_id = p_unit_id for no key update;
  if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
    perform iu_core.fn_unit_refuse_locked(u);
  end if;
  return u;
end $$;
