-- The unit that an address or an id names, and all that is in it, at any depth. Internal.
create or replace function iu_core.fn_search_inside(p_workspace_id uuid, p_container text) returns setof uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_container uuid := iu_core.fn_unit_named(p_workspace_id, p_container);
begin
  if v_container is null then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', p_container),
      detail = json_build_object('unit', p_container)::text;
  end if;
  return query
  with recursive inside as (
    select v_container as unit_id
     union
    select u.unit_id from inside i join iu_core.information_unit u on u.container_id = i.unit_id
  )
  select i.unit_id from inside i;
end $$;
