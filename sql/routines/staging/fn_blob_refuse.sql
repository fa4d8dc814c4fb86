-- The same answer for a blob that is not there and for one of another workspace. Internal.
create or replace function iu_core.fn_blob_refuse(p_blob_ref text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD513',
    message = format('There is no blob %s in this workspace, of this length and digest', left(p_blob_ref, 200)),
    detail = json_build_object('ref', left(p_blob_ref, 200))::text;
end $$;
