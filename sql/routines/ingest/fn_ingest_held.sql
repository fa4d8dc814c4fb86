-- The upload that a reader still holds, locked. A reader that was given up on finds out here and changes nothing.
-- Internal.
create or replace function iu_core.fn_ingest_held(p_upload_id uuid, p_token uuid) returns iu_core.ingest_upload
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  select * into u from iu_core.ingest_upload
   where upload_id = p_upload_id and status = 'reading' and reader_token = p_token for update;
  if not found then
    raise exception using
      errcode = 'SD612',
      message = format('Upload %s is no longer read by this process', p_upload_id),
      detail = json_build_object('upload', p_upload_id)::text;
  end if;
  return u;
end $$;
