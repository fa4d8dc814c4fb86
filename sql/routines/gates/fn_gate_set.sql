-- Opens or closes a gate for everybody. Administrators only: nobody but the owner may execute it.
-- Returns whether it changed anything.
create or replace function iu_core.fn_gate_set(p_gate text, p_open boolean, p_reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old text;
begin
  if p_open is null then
    raise exception using errcode = 'SD001', message = 'A gate is opened (true) or closed (false), not NULL';
  end if;
  -- Not FOR UPDATE: that would wait for every open transaction whose override refers to this row.
  select value into v_old from iu_core.dot_config where key = p_gate for no key update;
  if v_old is null then
    raise exception using
      errcode = 'SD102',
      message = format('There is no gate called %L', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
  if v_old = p_open::text then
    return false;
  end if;
  perform set_config('stagedoor.gate_reason', coalesce(p_reason, ''), true);
  update iu_core.dot_config
     set value = p_open::text, updated_at = clock_timestamp(), updated_by = iu_core.fn_actor()
   where key = p_gate;
  perform set_config('stagedoor.gate_reason', '', true);
  perform iu_core.fn_event_emit(
    'system', 'gate_changed',
    p_event_subject_ref => p_gate,
    p_safe_payload => jsonb_build_object('gate', p_gate, 'open', p_open));
  return true;
end $$;
