-- After units moved: none may be inside itself. In the manifest none is; what people moved by hand may be in between. Internal.
create or replace function iu_core.fn_cut_circles(p_unit_ids uuid[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unit uuid;
  v_container uuid;
begin
  with recursive above as (
    select u.unit_id, u.container_id from iu_core.information_unit u where u.unit_id = any (p_unit_ids)
    union
    select a.unit_id, u.container_id from above a
     cross join lateral (select x.container_id from iu_core.information_unit x where x.unit_id = a.container_id offset 0) u
     where a.container_id <> a.unit_id
  )
  select a.unit_id into v_unit from above a where a.container_id = a.unit_id limit 1;
  if found then
    select container_id into v_container from iu_core.information_unit where unit_id = v_unit;
    raise exception using
      errcode = 'SD908',
      message = format('The unit %s cannot be inside %s, which is inside it', v_unit, v_container),
      detail = json_build_object('unit', v_unit, 'container', v_container)::text;
  end if;
end $$;
