-- What is decided about a unit names the approval it was decided under. Internal.
create or replace function iu_core.fn_unit_apr_ref_check(p_apr_ref text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_apr_ref is null or p_apr_ref !~ '\S' or length(p_apr_ref) > 500 then
    raise exception using errcode = 'SD001', message = 'An apr_ref names the approval, in at most 500 characters';
  end if;
end $$;
