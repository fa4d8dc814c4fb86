-- After a piece was retired: checks anew every unit with an edge to it, by its address or by its id. Back-end code only.
create or replace function iu_core.fn_unit_axis_refresh(p_unit_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before uuid := '00000000-0000-0000-0000-000000000000';
  v_units uuid[];
  v_checked integer := 0;
begin
  if not exists (select from iu_core.information_unit where unit_id = p_unit_id) then
    return jsonb_build_object('skipped', 'there is no such unit');
  end if;
  -- fn_unit_check takes no more at once. Those it has unverified no longer lead here, so none comes twice.
  loop
    v_units := array(select distinct e.from_unit_id from iu_core.universal_edges e
                      where e.to_unit_id = p_unit_id and e.from_unit_id > v_before order by 1 limit 10000);
    exit when v_units = '{}';
    perform from iu_core.fn_unit_check(v_units);
    v_checked := v_checked + cardinality(v_units);
    v_before := v_units[cardinality(v_units)];
  end loop;
  return jsonb_build_object('checked', v_checked);
end $$;

grant execute on function iu_core.fn_unit_axis_refresh(uuid) to dot_executor, service_role;
