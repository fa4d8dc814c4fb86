-- Who the caller is in a workspace, if they may do this there: 'service' for back-end code, else the member's app role. NULL for
-- somebody who is no member, whom the callers answer each in their own way. A member without the right is refused here.
-- The right must be one of the member's role in that workspace AND one that the database role may ever have,
-- so that an agent's token decides nothing even if its subject is also a reviewer. Internal.
create or replace function iu_core.fn_member_with_right(p_workspace_id uuid, p_right text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text;
  v_role text;
  v_has boolean;
begin
  if p_right is null or p_right not in ('read', 'stage', 'operate', 'review', 'administer') then
    raise exception using errcode = 'SD001', message = format('%L is not a right', p_right);
  end if;
  if iu_core.fn_caller_is_service() then
    return 'service';
  end if;
  v_actor := iu_core.fn_actor();
  v_role := iu_core.fn_member_role(p_workspace_id, v_actor);
  v_has := exists (select from iu_core.app_role a where a.app_role = v_role and p_right = any (a.rights));
  if v_role is not null
     and (not v_has
          or not exists (select from iu_core.app_role a
                          where a.database_role = iu_core.fn_caller_role() and p_right = any (a.rights))) then
    raise exception using
      errcode = 'SD202',
      message = case when v_has
                     then format('A token of %s does not include the right to %s, whoever has it', iu_core.fn_caller_role(), p_right)
                     else format('The role %s in this workspace does not include the right to %s', v_role, p_right) end,
      detail = json_build_object('actor', v_actor, 'role', v_role, 'right', p_right)::text;
  end if;
  return v_role;
end $$;
