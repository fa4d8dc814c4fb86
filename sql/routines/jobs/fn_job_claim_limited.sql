-- Jobs of a kind with a limit: how many at once, how many in a time, one at a time for a key, keys in turns. Claims of one
-- kind go one after the other, because what is free is counted. p_suspects: of those with a crash behind them, else of the
-- others. Internal.
create or replace function iu_core.fn_job_claim_limited(
  p_worker iu_core.job_worker, p_kind text, p_urgency smallint, p_limit integer, p_now timestamptz,
  p_begin integer, p_suspects boolean
) returns setof iu_core.job_queue
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k iu_core.job_kind;
  v_free integer := p_limit;
  v_window integer;
  v_tokens double precision;
  v_ids uuid[];
begin
  -- Locked already, with the other kinds of this claim.
  select * into k from iu_core.job_kind where job_kind = p_kind for no key update;
  if k.paused_at is not null then
    return;
  end if;
  if k.concurrency is not null then
    v_free := least(v_free, k.concurrency - (select count(*)::integer from iu_core.job_running r where r.job_kind = p_kind));
  end if;
  if k.rate is not null then
    -- A bucket that refills evenly, and is never fuller than one period's worth.
    insert into iu_core.job_rate (job_kind, tokens, refilled_at) values (p_kind, k.rate, p_now) on conflict do nothing;
    update iu_core.job_rate r
       set tokens = least(k.rate, r.tokens + k.rate * greatest(0, extract(epoch from p_now - r.refilled_at)) / extract(epoch from k.rate_period)),
           refilled_at = greatest(r.refilled_at, p_now)
     where r.job_kind = p_kind
    returning r.tokens into v_tokens;
    v_free := least(v_free, floor(v_tokens)::integer);
  end if;
  if v_free <= 0 then
    return;
  end if;
  v_window := greatest(1000, 10 * v_free);
  with recursive keys as (
    -- Keys with a turn, one step in the index each. Beyond the first thousand they wait until they are among the oldest.
    (select q.fair_key, 1 as position from iu_core.job_queue q
      where k.fair_by is not null and q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency
        and q.fair_key is not null
      order by q.fair_key limit 1)
    union all
    select (select q.fair_key from iu_core.job_queue q
             where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency and q.fair_key > y.fair_key
             order by q.fair_key limit 1), y.position + 1
      from keys y where y.fair_key is not null and y.position < 1000
  ), due as (
    -- The oldest of all, a window: what is further behind has its turn when these are gone.
    (select q.job_id, q.process_after, q.source_ref, q.target_ref, q.payload_ref
       from iu_core.job_queue q
      where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency
        and q.process_after <= p_now and q.leased_by is null and (q.crashes > 0) = p_suspects
        and not exists (select from iu_core.job_running r
                         where k.serial_by is not null and r.job_kind = p_kind
                           and r.serial_key = case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end)
      order by q.process_after, q.job_id limit v_window)
    union
    -- And the oldest of each key, or a key with a long line would be the whole window.
    select h.*
      from keys y, lateral (
        select q.job_id, q.process_after, q.source_ref, q.target_ref, q.payload_ref
          from iu_core.job_queue q
         where q.job_kind = p_kind and q.executor = p_worker.executor and q.urgency = p_urgency and q.fair_key = y.fair_key
           and q.process_after <= p_now and q.leased_by is null and (q.crashes > 0) = p_suspects
           and not exists (select from iu_core.job_running r
                            where k.serial_by is not null and r.job_kind = p_kind
                              and r.serial_key = case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end)
         order by q.process_after, q.job_id
         limit (select least(v_free, 1 + v_window / count(*)) from keys)) h
     where y.fair_key is not null
  ), waiting as materialized (
    select d.job_id, d.process_after,
           case k.serial_by when 'source_ref' then d.source_ref when 'target_ref' then d.target_ref when 'payload_ref' then d.payload_ref end as serial_key,
           iu_core.fn_job_fair_key(k.fair_by, d.source_ref, d.target_ref, d.payload_ref) as fair_key
      from due d
  ), first_of_key as (
    select w.*, row_number() over (partition by coalesce(w.serial_key, w.job_id::text) order by w.process_after, w.job_id) as turn_in_serial,
           row_number() over (partition by w.fair_key order by w.process_after, w.job_id)
             + (select count(*) from iu_core.job_running r where r.job_kind = p_kind and r.fair_key = w.fair_key) as turn
      from waiting w
  ), chosen as (
    select f.job_id from first_of_key f where f.turn_in_serial = 1
     order by case when k.fair_by is null then 0 else f.turn end, f.process_after, f.job_id limit v_free
  )
  select array_agg(l.job_id) into v_ids
    from (select q.job_id from iu_core.job_queue q join chosen c on c.job_id = q.job_id
           where q.leased_by is null for update of q skip locked) l;
  if v_ids is null then
    return;
  end if;
  if k.rate is not null then
    update iu_core.job_rate r set tokens = r.tokens - cardinality(v_ids) where r.job_kind = p_kind;
  end if;
  -- The unique index over the serial key has the last word.
  insert into iu_core.job_running (job_id, job_kind, worker_id, serial_key, fair_key)
  select q.job_id, p_kind, p_worker.worker_id,
         case k.serial_by when 'source_ref' then q.source_ref when 'target_ref' then q.target_ref when 'payload_ref' then q.payload_ref end,
         iu_core.fn_job_fair_key(k.fair_by, q.source_ref, q.target_ref, q.payload_ref)
    from iu_core.job_queue q where q.job_id = any (v_ids);
  return query
    update iu_core.job_queue q
       set leased_by = p_worker.worker_id, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = p_now,
           begun = d.turn <= p_begin
      from unnest(v_ids) with ordinality d (job_id, turn)
     where q.job_id = d.job_id
    returning q.*;
end $$;
