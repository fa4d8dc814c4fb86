-- The workspace of an edge that the caller may know of; one of others is answered like one that is not there. Internal:
-- definer functions give it to require_member.
create or replace function iu_core.fn_unit_edge_workspace(p_edge_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.universal_edges where edge_id = p_edge_id;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD913',
      message = format('There is no edge %s', coalesce(p_edge_id::text, 'NULL')),
      detail = json_build_object('edge', p_edge_id)::text;
  end if;
  return v_workspace;
end $$;
