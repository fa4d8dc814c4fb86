-- After a command run, which may have made the units that edges wait for: checks anew those with an unverified edge that
-- leads somewhere now, and those with one that were never checked. Whose edges still lead nowhere has been told so before.
-- Back-end code only.
create or replace function iu_core.fn_unit_link_refresh(p_workspace_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
begin
  if p_workspace_id is null then
    return jsonb_build_object('skipped', 'units belong to a workspace, the run to none');
  end if;
  v_units := array(
    select distinct e.from_unit_id
      from iu_core.universal_edges e
     where e.workspace_id = p_workspace_id and e.edge_status = 'unverified'
       -- In one join each, not by fn_unit_named: most unverified edges lead out of here for good, and each run asks again.
       and (exists (select from iu_core.information_unit u
                     where u.workspace_id = e.workspace_id and u.canonical_address = e.target_ref
                       and u.deleted_at is null and u.lifecycle_status <> 'retired')
            or exists (select from iu_core.information_unit u
                        where u.unit_id = case when e.target_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then e.target_ref::uuid end
                          and u.workspace_id = e.workspace_id and u.deleted_at is null and u.lifecycle_status <> 'retired')
            or not exists (select from iu_core.unit_check c where c.unit_id = e.from_unit_id))
     order by 1 limit 10000);
  perform from iu_core.fn_unit_check(v_units);
  return jsonb_build_object(
    'checked', cardinality(v_units),
    'unverified', (select count(*) from iu_core.universal_edges e
                    where e.workspace_id = p_workspace_id and e.edge_status = 'unverified'));
end $$;

grant execute on function iu_core.fn_unit_link_refresh(uuid) to dot_executor, service_role;
