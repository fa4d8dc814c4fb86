-- The workspace of a consumer that the caller may know of; one of others is answered like one that is not there. One without
-- a workspace is everybody's to know of. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_consumer_workspace(p_consumer_id text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.consumer_registry where consumer_id = p_consumer_id;
  if not found or v_workspace is not null
     and not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD320',
      message = format('There is no consumer called %L', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  return v_workspace;
end $$;
