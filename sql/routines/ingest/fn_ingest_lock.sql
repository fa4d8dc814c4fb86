-- The upload, locked, and in one of the states from which this can be done. Internal.
create or replace function iu_core.fn_ingest_lock(p_upload_id uuid, p_states text[], p_to_be text)
returns iu_core.ingest_upload
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id for update;
  if u.status <> all (p_states) then
    raise exception using
      errcode = 'SD602',
      message = case when u.status = p_to_be then format('Upload %s is %s already', p_upload_id, u.status)
                     when p_to_be = 'undone' then format('Upload %s is %s and was never promoted: there is nothing to undo', p_upload_id, u.status)
                     else format('Upload %s is %s and cannot be %s', p_upload_id, u.status, p_to_be) end,
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', p_to_be)::text;
  end if;
  return u;
end $$;
