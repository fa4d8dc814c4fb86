-- Numbers units from 1 in the order given. Writes, and locks, those alone whose number changes. Internal: under
-- fn_unit_tree_lock.
create or replace function iu_core.fn_unit_number(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with numbered as (
    select u.unit_id, n.number
      from unnest(p_unit_ids) with ordinality as n (unit_id, number)
      join iu_core.information_unit u on u.unit_id = n.unit_id
     where u.position <> n.number
     -- In the order of their ids, as everybody who locks several.
     order by u.unit_id
       for no key update of u
  )
  update iu_core.information_unit u
     set position = n.number, changed_at = clock_timestamp()
    from numbered n
   where u.unit_id = n.unit_id;
end $$;
