-- An event carries references. The ten forbidden keys are refused at any depth, and so is anything large.
create or replace function iu_core.fn_event_payload_check(p_payload jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := iu_core.fn_payload_problem(p_payload);
begin
  if v_reason is not null then
    raise exception using
      errcode = 'SD302',
      message = 'An event carries references only, but ' || v_reason,
      detail = json_build_object('reason', v_reason)::text;
  end if;
end $$;
