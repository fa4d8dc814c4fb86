-- Who decides about a unit: a reviewer as themselves. Back-end code is nobody who decides: acting as service_role it names the
-- person whose decision it carries out, and via says who wrote it down. Internal.
create or replace function iu_core.fn_unit_decided_by(p_actor text, out actor text, out via text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record := iu_core.fn_actor_for(p_actor);
begin
  if v_actor.via is null and iu_core.fn_caller_is_service() then
    raise exception using
      errcode = 'SD001',
      message = format('A person decides this, and %s is none', v_actor.actor),
      hint = 'Acting as service_role, name the person who decided: p_actor in SQL, decidedBy in the library.';
  end if;
  actor := v_actor.actor;
  via := v_actor.via;
end $$;
