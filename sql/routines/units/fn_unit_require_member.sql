-- The doorman of one unit: its workspace, for a caller who may do this there. Of others it is answered like a unit that is not
-- there: an error must not tell who has what. Membership is asked once for both. Internal: definer functions begin with it.
create or replace function iu_core.fn_unit_require_member(p_unit_id uuid, p_right text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_unit_id;
  if not found or iu_core.fn_member_with_right(v_workspace, p_right) is null then
    perform iu_core.fn_unit_refuse_unknown(p_unit_id);
  end if;
  return v_workspace;
end $$;
