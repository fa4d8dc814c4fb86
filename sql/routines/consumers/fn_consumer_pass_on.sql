-- Passes events of one domain and type on to one consumer that listens to it. The caller holds the reader's row, so there
-- is one at a time. p_again: as for fn_consumer_job_sql. Internal.
create or replace function iu_core.fn_consumer_pass_on(
  c iu_core.consumer_registry,
  p_events iu_core.event_outbox[],
  p_again boolean default false,
  out jobs integer,
  out duplicates integer,
  out dry_runs integer,
  out failures integer,
  out deferred integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rate iu_core.consumer_rate;
  r record;
  p record;
begin
  jobs := 0;
  duplicates := 0;
  dry_runs := 0;
  failures := 0;
  deferred := 0;
  if c.rate is not null then
    -- A period that is over takes its free places with it.
    insert into iu_core.consumer_rate as k (consumer_id, begun_at, used) values (c.consumer_id, now(), 0)
    on conflict (consumer_id) do update set begun_at = excluded.begun_at, used = 0
     where k.begun_at + (k.used / c.rate + 1) * c.rate_period <= excluded.begun_at;
    select * into v_rate from iu_core.consumer_rate where consumer_id = c.consumer_id;
  end if;
  execute iu_core.fn_consumer_job_sql(c, p_again) into r using p_events, v_rate.begun_at, v_rate.used;
  if c.dry_run then
    insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, detail)
    select r.event_ids[j.ordinality], c.consumer_id, 'dry_run',
           jsonb_build_object('idempotency_key', j.idempotency_key, 'payload_ref', j.payload_ref,
                              'job_kind', j.job_kind, 'executor', j.executor)
      from unnest(r.jobs) with ordinality j
    union all
    select e.id, c.consumer_id, 'dry_run',
           jsonb_build_object('problem', case e.problem when 'too_deep'
             then format('too_deep: no job would be made, %s events in a row are the limit', c.max_depth) else e.problem end)
      from unnest(r.problem_ids, r.problems) as e (id, problem)
    on conflict do nothing;
    dry_runs := coalesce(cardinality(r.event_ids), 0) + coalesce(cardinality(r.problem_ids), 0);
    return;
  end if;
  if r.jobs is not null then
    select * into jobs, duplicates, failures, deferred from iu_core.fn_consumer_enqueue(c, r.event_ids, r.jobs, p_again);
    if c.rate is not null then
      update iu_core.consumer_rate set used = used + jobs where consumer_id = c.consumer_id;
    end if;
  end if;
  for p in
    select e.problem, array_agg(e.id) as event_ids from unnest(r.problem_ids, r.problems) as e (id, problem) group by 1
  loop
    perform iu_core.fn_consumer_fail(c, p.event_ids, case p.problem
      when 'too_deep' then jsonb_build_object('problem', 'too_deep', 'max_depth', c.max_depth)
      else jsonb_build_object('problem', p.problem) end);
    failures := failures + cardinality(p.event_ids);
  end loop;
end $$;
