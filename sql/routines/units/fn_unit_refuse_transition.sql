-- Says that a unit cannot become what somebody wants it to be. Internal.
create or replace function iu_core.fn_unit_refuse_transition(u iu_core.information_unit, p_to text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := case when u.deleted_at is null then u.lifecycle_status else 'deleted' end;
begin
  raise exception using
    errcode = 'SD905',
    message = format('The unit %s is %s and cannot become %s', u.unit_id, v_status, p_to),
    detail = json_build_object('unit', u.unit_id, 'status', v_status, 'to', p_to)::text;
end $$;
