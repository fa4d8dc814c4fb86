-- Units that the checker should look at, those first that have waited longest: never checked, changed since, or with an edge
-- that leads nowhere yet. What is deleted can wait until it is restored. Back-end code only; NULL: in every workspace.
create or replace function iu_core.fn_unit_check_due(p_workspace_id uuid, p_limit integer default 1000) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The checker takes between 1 and 10000 units at a time';
  end if;
  perform iu_core.fn_require_workspace(p_workspace_id);
  return array(
    select u.unit_id
      from iu_core.information_unit u
      left join iu_core.unit_check c on c.unit_id = u.unit_id
     where (p_workspace_id is null or u.workspace_id = p_workspace_id)
       and u.deleted_at is null
       and (c.unit_id is null or c.checked_version_no < u.version_no or c.checked_at < u.changed_at
            or exists (select from iu_core.universal_edges e where e.from_unit_id = u.unit_id and e.edge_status = 'unverified'))
     order by c.checked_at nulls first, u.unit_id
     limit p_limit);
end $$;

grant execute on function iu_core.fn_unit_check_due(uuid, integer) to dot_executor, service_role;
