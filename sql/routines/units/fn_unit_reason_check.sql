-- A reason is a few words, or none. Internal.
create or replace function iu_core.fn_unit_reason_check(p_reason text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reason !~ '\S' or length(p_reason) > 2000 then
    raise exception using errcode = 'SD001', message = 'A reason has between one and 2000 characters, or is left out';
  end if;
end $$;
