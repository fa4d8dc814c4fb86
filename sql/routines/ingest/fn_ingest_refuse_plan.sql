-- Raises that a plan cannot be promoted, and why. Internal.
create or replace function iu_core.fn_ingest_refuse_plan(p_upload_id uuid, p_reason text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD607',
    message = format('The plan of upload %s cannot be promoted: %s', p_upload_id, p_reason),
    detail = json_build_object('upload', p_upload_id, 'reason', p_reason)::text;
end $$;
