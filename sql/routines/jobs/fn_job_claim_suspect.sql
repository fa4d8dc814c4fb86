-- Leases one job with a crash behind it (a suspect), and no other: when it ends its next worker, too, it takes nobody with it.
--
-- A worker has one suspect at a time, so that an innocent one among them is charged at most once with the crash of another. One that
-- died once under its worker may have been there by chance (a machine that went away): after 10 seconds of running it no
-- longer keeps a second one from its worker, or the long jobs of that machine would run one after the other. Internal.
create or replace function iu_core.fn_job_claim_suspect(p_worker iu_core.job_worker, p_now timestamptz)
returns setof iu_core.job_queue
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_line record;
  v_job iu_core.job_queue;
  v_limited_locked boolean := false;
begin
  if not exists (select from unnest(p_worker.kinds) o
                   join iu_core.job_queue q on q.job_kind = o and q.executor = p_worker.executor and q.crashes > 0
                  where q.process_after <= p_now and q.leased_by is null) then
    return;
  end if;
  -- Two claims of one worker at once: one of them.
  if not pg_try_advisory_xact_lock(hashtextextended('stagedoor.job_alone ' || p_worker.worker_id, 0)) then
    return;
  end if;
  if exists (select from iu_core.job_alone a join iu_core.job_queue q on q.job_id = a.job_id join iu_core.job_kind k on k.job_kind = q.job_kind
              where a.worker_id = p_worker.worker_id
                and (a.crashes > 1 or k.max_crashes < 3 or a.since > clock_timestamp() - interval '10 seconds')) then
    return;
  end if;
  for v_line in
    select q.job_kind, q.urgency, k.limited
      from unnest(p_worker.kinds) o
      join iu_core.job_kind k on k.job_kind = o
      join iu_core.job_queue q on q.job_kind = o and q.executor = p_worker.executor and q.crashes > 0
     where k.paused_at is null and q.process_after <= p_now and q.leased_by is null
     group by q.job_kind, q.urgency, k.limited order by q.urgency, min(q.process_after)
  loop
    if v_line.limited then
      if not v_limited_locked then
        perform from iu_core.job_kind k where k.job_kind = any (p_worker.kinds) and k.limited order by k.job_kind for no key update;
        v_limited_locked := true;
      end if;
      select * into v_job from iu_core.fn_job_claim_limited(p_worker, v_line.job_kind, v_line.urgency, 1, p_now, 1, true);
    else
      update iu_core.job_queue q
         set leased_by = p_worker.worker_id, lease_epoch = q.lease_epoch + 1, attempts = q.attempts + 1, started_at = p_now, begun = true
       where q.job_id = (select s.job_id from iu_core.job_queue s
                          where s.job_kind = v_line.job_kind and s.executor = p_worker.executor and s.urgency = v_line.urgency
                            and s.crashes > 0 and s.process_after <= p_now and s.leased_by is null
                          order by s.process_after limit 1 for update skip locked)
      returning q.* into v_job;
    end if;
    if v_job.job_id is not null then
      insert into iu_core.job_alone as a (worker_id, job_id, crashes) values (p_worker.worker_id, v_job.job_id, v_job.crashes)
      on conflict (worker_id) do update set job_id = excluded.job_id, crashes = excluded.crashes, since = excluded.since;
      return next v_job;
      return;
    end if;
  end loop;
end $$;
