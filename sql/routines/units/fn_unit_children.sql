-- The living units in a container, in their order: what is superseded, retired or deleted has no place any more. Two of the
-- same position are told apart by their ids, so that the order is always one. Internal.
create or replace function iu_core.fn_unit_children(p_container_id uuid) returns uuid[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select u.unit_id from iu_core.information_unit u
     where u.container_id = p_container_id and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
     order by u.position, u.unit_id);
end $$;
