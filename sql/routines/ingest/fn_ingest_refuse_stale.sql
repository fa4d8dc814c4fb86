-- Raises that production has changed since the plan was made. Internal.
create or replace function iu_core.fn_ingest_refuse_stale(p_upload_id uuid, p_rows bigint, p_target text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD606',
    message = format('%s rows of %s have changed since the plan was made', p_rows, p_target),
    detail = json_build_object('upload', p_upload_id, 'reason', format('%s rows of %s have changed since', p_rows, p_target))::text;
end $$;
