-- Raises unless the gate is open.
create or replace function iu_core.fn_gate_require(p_gate text) returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_gate_open(p_gate) then
    raise exception using
      errcode = 'SD101',
      message = format('The gate %s is closed', p_gate),
      hint = format('An administrator opens it with `stagedoor gate open %s`.', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
end $$;

grant execute on function iu_core.fn_gate_require(text) to dot_executor, service_role;
