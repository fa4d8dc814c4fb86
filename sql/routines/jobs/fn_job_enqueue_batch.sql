-- Enqueues many jobs in one statement; their ids, in the given order. The objects' keys are the columns' names. A job that
-- names no workspace is the one's whose event it follows from.
create or replace function iu_core.fn_job_enqueue_batch(p_jobs jsonb) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
  v_unknown text;
  v_causes uuid[];
  v_jobs iu_core.job_queue[];
  v_suspect boolean := p_jobs::text ~* '"(body|content|raw|vector|embedding|secret|token|password|ssn|personal_data)":';
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_job_enqueue_batch takes a JSON array of jobs';
  end if;
  select k into v_unknown
    from jsonb_array_elements(p_jobs) j, jsonb_object_keys(j) k
   where k not in ('job_kind', 'idempotency_key', 'executor', 'source_ref', 'target_ref', 'payload_ref', 'safe_payload',
                   'priority', 'process_after', 'correlation_id', 'causation_event_id', 'workspace_id')
   limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A job of a batch has no field called %L', v_unknown);
  end if;
  -- What can be wrong is asked of all of them in C; only those that may be are looked at one by one (5,000 jobs: 5 ms
  -- instead of 75). Where no key's name stands anywhere in the text, no payload has it at any depth.
  perform iu_core.fn_job_check(d.kind, null, d.executor, '{}')
     from (select distinct j ->> 'job_kind' as kind, coalesce(j ->> 'executor', 'PG_worker') as executor
             from jsonb_array_elements(p_jobs) j) d;
  perform iu_core.fn_job_check(j ->> 'job_kind', j ->> 'idempotency_key', coalesce(j ->> 'executor', 'PG_worker'), j -> 'safe_payload')
     from jsonb_array_elements(p_jobs) j
    where v_suspect
       or length(j ->> 'idempotency_key') not between 1 and 500
       or coalesce(jsonb_typeof(j -> 'safe_payload'), 'object') <> 'object'
       or length(j ->> 'safe_payload') > 8192;
  v_causes := array(select distinct (j ->> 'causation_event_id')::uuid from jsonb_array_elements(p_jobs) j
                     where j ->> 'causation_event_id' is not null);
  with cause as materialized (
    select e.id, e.correlation_id, e.causation_depth, e.workspace_id from unnest(v_causes) o join iu_core.event_outbox e on e.id = o
  )
  select coalesce(array_agg(row(
           null, j.job_kind, coalesce(j.executor, 'PG_worker'), j.priority, null, j.process_after, null, 0, 0, 0, 0, null, null,
           j.idempotency_key, j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
           coalesce(j.workspace_id, case when j.causation_event_id is null then c.workspace_id else e.workspace_id end),
           coalesce(j.correlation_id, e.correlation_id, c.correlation_id), coalesce(j.causation_event_id, c.event_id),
           coalesce(e.causation_depth, c.depth), v_actor, null, null, null, false)::iu_core.job_queue order by t.position), '{}')
    into v_jobs
    from iu_core.fn_event_cause() c,
         jsonb_array_elements(p_jobs) with ordinality as t (value, position),
         lateral jsonb_to_record(t.value) as j (
           job_kind text, idempotency_key text, executor text, source_ref text, target_ref text, payload_ref text,
           safe_payload jsonb, priority smallint, process_after timestamptz, correlation_id uuid, causation_event_id uuid,
           workspace_id uuid)
    left join cause e on e.id = j.causation_event_id;
  select o::text into v_unknown from unnest(v_causes) o where not exists (select from iu_core.event_outbox e where e.id = o) limit 1;
  if found then
    raise exception using
      errcode = 'SD705',
      message = format('There is no event %s that a job could follow from', v_unknown),
      detail = json_build_object('kind', null, 'reason', format('there is no event %s', v_unknown))::text;
  end if;
  return query select p.job_id from iu_core.fn_job_put(v_jobs) p order by p.ordinal;
end $$;

grant execute on function iu_core.fn_job_enqueue_batch(jsonb) to dot_executor, service_role, stagedoor_producer;
