-- A unit is never put into what is inside it. Internal: under fn_unit_tree_lock, or two moves at once could make a circle.
-- Every container above is locked on the way: a transaction with an older snapshot then fails instead of seeing the tree as
-- it was.
create or replace function iu_core.fn_unit_cycle_check(p_unit_id uuid, p_container_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above uuid := p_container_id;
begin
  while v_above is not null loop
    if v_above = p_unit_id then
      raise exception using
        errcode = 'SD908',
        message = format('The unit %s cannot be inside %s, which is inside it', p_unit_id, p_container_id),
        detail = json_build_object('unit', p_unit_id, 'container', p_container_id)::text;
    end if;
    select container_id into v_above from iu_core.information_unit where unit_id = v_above for share;
  end loop;
end $$;
