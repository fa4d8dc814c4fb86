-- The phases of search are opened one after the other and closed in reverse, by whatever way the gate is changed. Phase 3 is how
-- units are divided: with it every unit is projected again.
create or replace function iu_core.fn_search_phase_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_form constant text := '^search\.phase_([123])\.enabled$';
  v_phase integer := coalesce(substring(old.key from v_form), substring(new.key from v_form))::integer;
  v_opens boolean := coalesce(new.value = 'true', false);
  v_was_open boolean := coalesce(old.value = 'true', false);
begin
  if v_phase is null then
    return coalesce(new, old);
  end if;
  if tg_op = 'UPDATE' and new.key <> old.key then
    raise exception using errcode = 'SD914', message = 'A phase of search keeps its name',
      detail = json_build_object('reason', 'a phase keeps its name')::text;
  end if;
  if v_opens = v_was_open then
    return coalesce(new, old);
  end if;
  if v_opens and v_phase > 1 and not exists (
       select from iu_core.dot_config c
        where c.key = format('search.phase_%s.enabled', v_phase - 1) and c.value = 'true' for share) then
    raise exception using
      errcode = 'SD914',
      message = format('Phase %s of search cannot be opened before phase %s', v_phase, v_phase - 1),
      detail = json_build_object('reason', format('phase %s is closed', v_phase - 1))::text;
  end if;
  if not v_opens and v_phase < 3 and exists (
       select from iu_core.dot_config c
        where c.key = format('search.phase_%s.enabled', v_phase + 1) and c.value = 'true' for share) then
    raise exception using
      errcode = 'SD914',
      message = format('Phase %s of search cannot be closed before phase %s', v_phase, v_phase + 1),
      detail = json_build_object('reason', format('phase %s is open', v_phase + 1))::text;
  end if;
  if v_phase = 3 then
    perform iu_core.fn_vector_enqueue(
      array(select u.unit_id from iu_core.information_unit u
             where u.deleted_at is null and u.lifecycle_status <> 'retired' order by u.unit_id), 'upsert');
  end if;
  perform pg_notify('stagedoor_vectors', '');
  return coalesce(new, old);
end $$;

create or replace trigger dot_config_phases_in_order
  before insert or update or delete on iu_core.dot_config
  for each row execute function iu_core.fn_search_phase_guard();
