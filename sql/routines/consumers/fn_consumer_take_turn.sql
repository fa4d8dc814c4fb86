-- Takes the row that whoever dispatches holds to the end of the transaction. p_wait false: false where somebody else has
-- it, or where there is nothing to do. False, too, as long as no consumer was ever switched on. Internal.
create or replace function iu_core.fn_consumer_take_turn(p_wait boolean default false) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seen pg_snapshot;
begin
  select seen into v_seen from iu_core.event_reader where reader = 'consumers';
  if v_seen is null then
    if exists (select from iu_core.consumer_registry where enabled) then
      raise exception using
        errcode = 'SD303',
        message = 'There is no event reader called ''consumers'', but there are consumers',
        detail = json_build_object('reader', 'consumers')::text;
    end if;
    return false;
  end if;
  if pg_snapshot_xmax(v_seen) > pg_snapshot_xmax(pg_current_snapshot()) then
    -- Going on, we would take everything that comes for read.
    raise exception using
      errcode = 'SD325',
      message = 'The position of the dispatcher is of another server: this database was restored from a dump';
  end if;
  if p_wait then
    perform from iu_core.event_reader where reader = 'consumers' for update;
    return true;
  end if;
  if not iu_core.fn_consumer_work_waits() then
    return false;
  end if;
  perform from iu_core.event_reader where reader = 'consumers' for update skip locked;
  return found;
end $$;
