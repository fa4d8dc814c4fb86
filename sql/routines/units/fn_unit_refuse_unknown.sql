-- What is said of a unit that is not there, and of one that the caller may not know of. Internal.
create or replace function iu_core.fn_unit_refuse_unknown(p_unit_id uuid) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD901',
    message = format('There is no unit %s', coalesce(p_unit_id::text, 'NULL')),
    detail = json_build_object('unit', p_unit_id)::text;
end $$;
