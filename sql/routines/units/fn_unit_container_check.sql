-- What a unit may be put into: another one of the same workspace that is alive. Anything else of another workspace is answered
-- like one that does not exist. Internal.
create or replace function iu_core.fn_unit_container_check(p_workspace_id uuid, p_container_id uuid) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
begin
  select case when deleted_at is null then lifecycle_status else 'deleted' end into v_status
    from iu_core.information_unit where unit_id = p_container_id and workspace_id = p_workspace_id;
  if not found then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', p_container_id),
      detail = json_build_object('unit', p_container_id)::text;
  end if;
  if v_status in ('deleted', 'retired') then
    raise exception using
      errcode = 'SD903',
      message = format('The unit %s is %s: nothing is put into it', p_container_id, v_status),
      detail = json_build_object('unit', p_container_id, 'status', v_status)::text;
  end if;
end $$;
