-- How many jobs each consumer made in the last 24 hours: those that wait or run, those that are done, those that died.
create or replace view iu_core.v_consumer_dispatch_recent with (security_invoker = true) as
select j.safe_payload ->> 'consumer_id' as consumer_id, count(*) as dispatched_24h
  from (select safe_payload, causation_event_id, enqueued_at from iu_core.job_queue
        union all
        -- What was enqueued since then ended since then: older partitions are not read.
        select safe_payload, causation_event_id, enqueued_at from iu_core.job_history
         where finished_at > now() - interval '24 hours'
        union all
        select safe_payload, causation_event_id, enqueued_at from iu_core.job_dead_letter) as j
 where j.causation_event_id is not null
   and j.enqueued_at > now() - interval '24 hours'
   and j.safe_payload ? 'consumer_id'
 group by 1;

grant select on iu_core.v_consumer_dispatch_recent to authenticated, stagedoor_reviewer, service_role, dot_executor;
