-- Is the gate open, here and now? An override of this very transaction wins over the shared row.
create or replace function iu_core.fn_gate_open(p_gate text) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text;
begin
  select coalesce(o.value, c.value) into v_value
    from iu_core.dot_config c
    left join iu_core.dot_config_override o
      on o.key = c.key and o.tx = pg_current_xact_id_if_assigned()
   where c.key = p_gate;
  if v_value is null then
    raise exception using
      errcode = 'SD102',
      message = format('There is no gate called %L', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
  return v_value = 'true';
end $$;

grant execute on function iu_core.fn_gate_open(text) to dot_executor, service_role, vector_worker;
