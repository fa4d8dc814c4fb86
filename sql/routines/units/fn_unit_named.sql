-- The unit of the workspace that a reference names, by its canonical address or by its id. NULL where it names none, or
-- one that is deleted or retired: an edge to it would lead to nothing. Internal.
create or replace function iu_core.fn_unit_named(p_workspace_id uuid, p_ref text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unit uuid;
begin
  select u.unit_id into v_unit from iu_core.information_unit u
   where u.workspace_id = p_workspace_id and u.canonical_address = p_ref
     and u.deleted_at is null and u.lifecycle_status <> 'retired';
  -- An address may look like an id; then the address is meant, as it is for whoever reads it.
  if v_unit is null and p_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select u.unit_id into v_unit from iu_core.information_unit u
     where u.unit_id = p_ref::uuid and u.workspace_id = p_workspace_id
       and u.deleted_at is null and u.lifecycle_status <> 'retired';
  end if;
  return v_unit;
end $$;
