-- Enqueues one job in the caller's transaction: rolled back, there is no job. The same kind and key again: the same job.
-- In the transaction of a job's handler it follows from the event that job came from. It is the workspace's whose event
-- it follows from; without one it is global. fn_job_enqueue_batch takes a workspace by name.
create or replace function iu_core.fn_job_enqueue(
  p_kind text,
  p_idempotency_key text default null,
  p_executor text default 'PG_worker',
  p_source_ref text default null,
  p_target_ref text default null,
  p_payload_ref text default null,
  p_safe_payload jsonb default '{}',
  p_priority smallint default 0::smallint,
  p_process_after timestamptz default now(),
  p_correlation_id uuid default null,
  p_causation_event_id uuid default null,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job iu_core.job_queue;
  v_actor record;
begin
  perform iu_core.fn_job_check(p_kind, p_idempotency_key, p_executor, p_safe_payload);
  v_actor := iu_core.fn_actor_for(p_actor);
  v_job.job_kind := p_kind;
  v_job.executor := p_executor;
  v_job.idempotency_key := p_idempotency_key;
  v_job.source_ref := p_source_ref;
  v_job.target_ref := p_target_ref;
  v_job.payload_ref := p_payload_ref;
  v_job.safe_payload := p_safe_payload;
  v_job.priority := p_priority;
  v_job.process_after := p_process_after;
  v_job.actor := v_actor.actor;
  v_job.actor_via := v_actor.via;
  if p_causation_event_id is null then
    select c.event_id, c.correlation_id, c.depth, c.workspace_id
      into v_job.causation_event_id, v_job.correlation_id, v_job.causation_depth, v_job.workspace_id from iu_core.fn_event_cause() c;
  else
    select e.id, e.correlation_id, e.causation_depth, e.workspace_id
      into v_job.causation_event_id, v_job.correlation_id, v_job.causation_depth, v_job.workspace_id
      from iu_core.event_outbox e where e.id = p_causation_event_id;
    if not found then
      raise exception using
        errcode = 'SD705',
        message = format('There is no event %s that this job could follow from', p_causation_event_id),
        detail = json_build_object('kind', p_kind, 'reason', format('there is no event %s', p_causation_event_id))::text;
    end if;
  end if;
  v_job.correlation_id := coalesce(p_correlation_id, v_job.correlation_id);
  return (select p.job_id from iu_core.fn_job_put(array[v_job]) p);
end $$;

grant execute on function iu_core.fn_job_enqueue(text, text, text, text, text, text, jsonb, smallint, timestamptz, uuid, uuid, text)
  to dot_executor, service_role, stagedoor_producer;
