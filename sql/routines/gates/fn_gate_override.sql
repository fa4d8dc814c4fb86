-- Opens or closes a gate for the rest of this transaction only. Administrators only.
-- It inserts a row of its own instead of updating the shared one, so that writers never wait for each other.
create or replace function iu_core.fn_gate_override(p_gate text, p_open boolean, p_reason text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_open is null then
    raise exception using errcode = 'SD001', message = 'A gate is opened (true) or closed (false), not NULL';
  end if;
  -- Raises for a gate that does not exist.
  perform iu_core.fn_gate_open(p_gate);
  insert into iu_core.dot_config_override as o (key, value)
  values (p_gate, p_open::text)
  on conflict (key, tx) do update set value = excluded.value;
  insert into iu_core.dot_config_audit (key, change, new_value, actor, reason)
  values (p_gate, 'override', p_open::text, iu_core.fn_actor(), p_reason);
end $$;
