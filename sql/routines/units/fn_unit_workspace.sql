-- The workspace of a unit that the caller may know of. A unit of others is answered like one that is not there: an error must
-- not tell who has what. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_unit_workspace(p_unit_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_unit_id;
  if not found or not iu_core.fn_workspace_is_known(v_workspace) then
    perform iu_core.fn_unit_refuse_unknown(p_unit_id);
  end if;
  return v_workspace;
end $$;
