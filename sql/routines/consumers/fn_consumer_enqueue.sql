-- One consumer's jobs into the queue and their lines into the log, in one statement. Where that fails, in halves, until
-- what is in the way stands alone: the rest goes on. Internal.
--
-- A job key that an open transaction of somebody else has written makes us wait for its end, perhaps for hours: after
-- 50 ms the events are deferred, and a later pass tries again. After so many waits the rest is deferred unseen, so that
-- a transaction with thousands of our keys delays nobody for long.
-- An error that comes of the event (its values, our own refusals) is the event's; one of the server (a full disk, a lost
-- table, a deadlock) ends the whole pass, which comes again.
create or replace function iu_core.fn_consumer_enqueue(
  c iu_core.consumer_registry,
  p_event_ids uuid[],
  p_jobs iu_core.job_queue[],
  p_again boolean,
  out jobs integer,
  out duplicates integer,
  out failures integer,
  out deferred integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  c_most_waits constant integer := 12;
  v_first integer[] := array[1];
  v_last integer[] := array[cardinality(p_jobs)];
  v_waits integer := 0;
  v_fresh integer;
  v_other integer;
  v_error text;
  v_state text;
  a integer;
  b integer;
  v_middle integer;
begin
  jobs := 0;
  duplicates := 0;
  failures := 0;
  deferred := 0;
  while cardinality(v_first) > 0 loop
    a := v_first[cardinality(v_first)];
    b := v_last[cardinality(v_last)];
    v_first := trim_array(v_first, 1);
    v_last := trim_array(v_last, 1);
    begin
      if p_again then
        delete from iu_core.event_dispatch_log l
         where l.event_id = any (p_event_ids[a:b]) and l.consumer_id = c.consumer_id;
      end if;
      with put as (
        select p_event_ids[p.ordinal + a - 1] as event_id, p.job_id, p.fresh
          from iu_core.fn_job_put(case when a = 1 and b = cardinality(p_jobs) then p_jobs else p_jobs[a:b] end) p
      ), logged as (
        insert into iu_core.event_dispatch_log (event_id, consumer_id, outcome, job_id)
        select p.event_id, c.consumer_id, case when p.fresh then 'enqueued' else 'duplicate' end, p.job_id from put p
      )
      select count(*) filter (where fresh), count(*) filter (where not fresh) into v_fresh, v_other from put;
      jobs := jobs + v_fresh;
      duplicates := duplicates + v_other;
      continue;
    exception
      when lock_not_available then
        v_state := null;
        v_waits := v_waits + 1;
      when others then
        if left(sqlstate, 2) not in ('22', '23', '54', 'P0', 'SD') then
          raise;
        end if;
        v_state := sqlstate;
        v_error := sqlerrm;
    end;
    if a < b and (v_state is not null or v_waits <= c_most_waits) then
      v_middle := (a + b) / 2;
      v_first := v_first || array[v_middle + 1, a];
      v_last := v_last || array[b, v_middle];
    elsif v_state is null then
      perform iu_core.fn_consumer_log(c.consumer_id, p_event_ids[a:b], 'deferred',
                                      '{"problem": "an open transaction holds the key of its job"}');
      deferred := deferred + b - a + 1;
    else
      perform iu_core.fn_consumer_fail(c, p_event_ids[a:a], jsonb_build_object('problem', v_error, 'sqlstate', v_state));
      failures := failures + 1;
    end if;
  end loop;
end $$;
