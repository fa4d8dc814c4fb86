-- Wakes the steps that have waited long enough: whose event came, whose record was decided, whose time is up. Each wait
-- once: its row becomes an inbox row. Returns how many. One caller at a time does the work, any other goes on with 0.
--
-- No wake is lost. Events are read in commit order through the reader 'executions', and a wait takes part in it from the
-- statement on that first sees it. What was committed between its beginning (since) and then, it looks through itself,
-- once (caught_up); what is not yet visible to that look is not yet read by the reader either, for its position is older.
--
-- The reader is there only while somebody waits for events or approvals: one that nobody moves would keep every partition
-- of the outbox. Where it is missing it begins now, and all waits look through the past for themselves.
--
-- An execution of a workspace hears that workspace's events, and of those without one only what the system says, as its
-- members do; one that belongs to no workspace hears all. Its workspace is read from its log: the projection comes later.
--
-- lock_timeout: a flush that drops waits holds their rows. Shorter than the server's deadlock_timeout, so that it is always
-- this function that gives way; it has then changed nothing, and the next call finds everything as it was.
create or replace function noetl.fn_waits_wake(p_limit integer default 1000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_woken integer := 0;
begin
  if p_limit is null or p_limit < 1 or p_limit > 100000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 100000';
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended('stagedoor.waits', 0)) then
    return 0;
  end if;
  begin
    -- One kind after the other, each by its own index: there may be many timers.
    if exists (select from noetl.wait where kind = 'event') or exists (select from noetl.wait where kind = 'approval') then
      if iu_core.fn_event_reader_register('executions') then
        update noetl.wait set caught_up = false where kind <> 'timer' and caught_up;
      end if;
      v_woken := noetl.fn_waits_hear(p_limit);
      v_woken := v_woken + noetl.fn_waits_catch_up();
    else
      perform iu_core.fn_event_reader_remove('executions');
    end if;
    v_woken := v_woken + noetl.fn_waits_time_out(p_limit);
  exception when lock_not_available then
    return 0;
  end;
  return v_woken;
end $$;

grant execute on function noetl.fn_waits_wake(integer) to dot_executor;
