-- Says that a unit is locked, and why. Internal.
create or replace function iu_core.fn_unit_refuse_locked(u iu_core.information_unit) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when u.deleted_at is null then u.lifecycle_status else 'deleted' end;
begin
  raise exception using
    errcode = 'SD903',
    message = format('The unit %s is %s: its content is locked', u.canonical_address, v_status),
    detail = json_build_object('unit', u.unit_id, 'status', v_status)::text;
end $$;
