-- The workspace of a record that the caller may know of. A record of others is answered like one that is not there:
-- an error must not tell who has what. Internal: definer functions give it to require_member.
create or replace function iu_core.fn_iu_staging_workspace(p_staging_record_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD501',
      message = format('There is no staging record %s', coalesce(p_staging_record_id::text, 'NULL')),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return v_workspace;
end $$;
