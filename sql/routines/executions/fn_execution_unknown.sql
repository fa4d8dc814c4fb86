-- There is none, or none that the caller may know of: the same answer. Internal.
create or replace function noetl.fn_execution_unknown(p_execution_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD803',
    message = format('There is no execution %s', coalesce(p_execution_id::text, 'NULL')),
    detail = json_build_object('execution', p_execution_id::text)::text;
end $$;
