-- After units moved: one of them that is inside itself now, NULL if none is. In the manifest none is; what people moved by hand may be
-- in between. Internal.
create or replace function iu_core.fn_cut_circles(p_unit_ids uuid[]) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive above as (
    select u.unit_id, u.container_id from iu_core.information_unit u where u.unit_id = any (p_unit_ids)
    union
    select a.unit_id, u.container_id from above a
     cross join lateral (select x.container_id from iu_core.information_unit x where x.unit_id = a.container_id offset 0) u
     where a.container_id <> a.unit_id
  )
  select a.unit_id from above a where a.container_id = a.unit_id limit 1
$$;
