-- Reads on in the outbox and ends the waits that it finds events for. Internal, see fn_waits_wake.
-- At most ten pages a call: after a long pause the rest comes with the next.
create or replace function noetl.fn_waits_hear(p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_heard iu_core.event_outbox[];
  v_ended integer := 0;
begin
  for v_page in 1..10 loop
    v_heard := array(select e from iu_core.fn_event_read('executions', p_limit) as e);
    exit when cardinality(v_heard) = 0;
    -- A statement of its own: it sees whatever the transactions of these events wrote, above all the decided records.
    v_ended := v_ended + noetl.fn_waits_tell(v_heard);
    exit when cardinality(v_heard) < p_limit;
  end loop;
  return v_ended;
end $$;
