-- Opens or closes a phase of the migration from the old knowledge base (1 to 3), in their order. For back-end code; it is the gate
-- search.phase_N.enabled, which an administrator of the database can also set as every other. Returns whether it changed anything.
create or replace function iu_core.fn_search_phase_set(p_phase integer, p_open boolean, p_reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(null, 'administer');
  if p_phase is null or p_phase not between 1 and 3 then
    raise exception using errcode = 'SD001', message = 'Search has the phases 1, 2 and 3; phase 0, the mapping, only reads and has no switch';
  end if;
  return iu_core.fn_gate_set(format('search.phase_%s.enabled', p_phase), p_open, p_reason);
end $$;

grant execute on function iu_core.fn_search_phase_set(integer, boolean, text) to dot_executor, service_role;
