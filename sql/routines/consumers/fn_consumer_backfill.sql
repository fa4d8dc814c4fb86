-- Passes events of the past on to an active consumer: what came before it began, what went wrong, what a dry run only
-- noted. Not what it has got already, so it can be called again. Oldest first, p_limit events at most in one call;
-- last_event_id is given back as p_after for the next, and NULL when there is no more. Administrators only.
create or replace function iu_core.fn_consumer_backfill(
  p_consumer_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_limit integer default 10000,
  p_after uuid default null,
  out events integer,
  out jobs integer,
  out duplicates integer,
  out failures integer,
  out deferred integer,
  out last_event_id uuid
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
  v_events iu_core.event_outbox[];
begin
  if p_from is null or p_to is null or p_from > p_to or p_limit is null or p_limit < 1 or p_limit > 100000 then
    raise exception using errcode = 'SD001', message = 'Give p_from, a later p_to, and a limit from 1 to 100000';
  end if;
  perform iu_core.fn_gate_require('queue.consumer_dispatch.enabled');
  perform iu_core.fn_consumer_take_turn(true);
  c := iu_core.fn_consumer_require(p_consumer_id);
  if not c.enabled or c.dry_run then
    raise exception using
      errcode = 'SD322',
      message = format('The consumer %s is not active', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  -- By the event's own time; by id only to find it, because ids are times and partitions. An id is a moment older than its
  -- event: in one large batch all of them are made before the first row is written.
  select array_agg(e order by e.id) into v_events
    from (select e.* from iu_core.event_outbox e
           where e.id >= iu_core.fn_time_uuid_floor(p_from - interval '1 hour') and (p_after is null or e.id > p_after)
             and e.id <= iu_core.fn_time_uuid_floor(p_to + interval '1 millisecond')
             and e.event_domain = c.event_domain and e.event_type = c.event_type
             and (c.event_stream is null or e.event_stream = c.event_stream)
             and (c.workspace_id is null or e.workspace_id = c.workspace_id)
             and e.created_at >= p_from and e.created_at <= p_to
             and not exists (select from iu_core.event_dispatch_log l
                              where l.event_id = e.id and l.consumer_id = p_consumer_id
                                and l.outcome in ('enqueued', 'duplicate'))
           order by e.id limit p_limit) as e;
  events := coalesce(cardinality(v_events), 0);
  select p.jobs, p.duplicates, p.failures, p.deferred into jobs, duplicates, failures, deferred
    from iu_core.fn_consumer_pass_on(c, v_events, true) p;
  if events = p_limit then
    last_event_id := v_events[events].id;
  end if;
end $$;
