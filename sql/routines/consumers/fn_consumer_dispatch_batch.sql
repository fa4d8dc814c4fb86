-- Passes the next events of the outbox on to every consumer that listens: jobs, log and the reader's position in one
-- transaction, so that a dispatcher that dies in between has done nothing. One works, a second one returns at once.
-- With the switch queue.consumer_dispatch.enabled off nothing moves, and nothing is lost.
create or replace function iu_core.fn_consumer_dispatch_batch(
  p_limit integer default 1000,
  out events integer,
  out jobs integer,
  out duplicates integer,
  out dry_runs integer,
  out failures integer,
  out deferred integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group record;
  c iu_core.consumer_registry;
  d record;
begin
  events := 0;
  jobs := 0;
  duplicates := 0;
  dry_runs := 0;
  failures := 0;
  deferred := 0;
  if not iu_core.fn_gate_open('queue.consumer_dispatch.enabled') or not iu_core.fn_consumer_take_turn() then
    return;
  end if;
  for v_group in
    -- What a user's transaction held up: after a second, and ever more seldom, up to a minute, for one that stays open.
    select held.consumer_id, null::text as event_domain, null::text as event_type, true as again,
           array_agg(held.event order by (held.event).tx, (held.event).seq) as events
      from (select l.consumer_id, e as event
              from iu_core.event_dispatch_log l
              join iu_core.event_outbox e on e.id = l.event_id
              join iu_core.consumer_registry a on a.consumer_id = l.consumer_id and a.enabled and not a.dry_run
             where l.outcome = 'deferred' and l.dispatched_at < now() - interval '1 second'
               and l.dispatched_at < now() - least(interval '1 minute', (l.dispatched_at - e.created_at) / 8)
             order by l.dispatched_at limit p_limit) held
     group by 1
    union all
    select null, e.event_domain, e.event_type, false, array_agg(e order by e.tx, e.seq)
      from iu_core.fn_event_read('consumers', p_limit) e
     group by 2, 3
  loop
    if not v_group.again then
      events := events + cardinality(v_group.events);
    end if;
    for c in
      select r.* from iu_core.consumer_registry r
       where r.enabled
         and case when v_group.again then r.consumer_id = v_group.consumer_id and not r.dry_run
                  else r.event_domain = v_group.event_domain and r.event_type = v_group.event_type end
       order by r.consumer_id
    loop
      select * into d from iu_core.fn_consumer_pass_on(c, v_group.events, v_group.again);
      jobs := jobs + d.jobs;
      duplicates := duplicates + d.duplicates;
      dry_runs := dry_runs + d.dry_runs;
      failures := failures + d.failures;
      deferred := deferred + d.deferred;
    end loop;
  end loop;
end $$;

grant execute on function iu_core.fn_consumer_dispatch_batch(integer) to dot_executor;
