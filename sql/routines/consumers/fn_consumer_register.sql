-- Registers a consumer, disabled, or changes one. The object's keys are the columns' names. Administrators only: nobody
-- but the owner may execute it. Registering the same again changes nothing; another match, template, kind or executor
-- disables the consumer and takes its review away.
create or replace function iu_core.fn_consumer_register(p_consumer jsonb, p_actor text default null)
returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_keys constant text[] := array[
    'consumer_id', 'event_domain', 'event_type', 'event_stream', 'workspace_id', 'job_kind', 'executor',
    'idempotency_key_template', 'payload_ref_template', 'fail_closed', 'priority', 'max_depth', 'rate', 'rate_period', 'notes'];
  c_needed constant text[] := array['consumer_id', 'event_domain', 'event_type', 'job_kind', 'idempotency_key_template'];
  v_actor record;
  v_names text;
  c iu_core.consumer_registry;
begin
  if jsonb_typeof(p_consumer) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'fn_consumer_register takes a JSON object';
  end if;
  select string_agg(k, ', ') into v_names from jsonb_object_keys(p_consumer) k where k <> all (c_keys);
  if v_names is not null then
    raise exception using errcode = 'SD001', message = 'A consumer has no field called ' || v_names;
  end if;
  select string_agg(k, ', ') into v_names from unnest(c_needed) k where p_consumer ->> k is null;
  if v_names is not null then
    raise exception using errcode = 'SD001', message = 'A consumer needs ' || v_names;
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  begin
    c := jsonb_populate_record(null::iu_core.consumer_registry, p_consumer);
  exception when check_violation then
    raise exception using
      errcode = 'SD704',
      message = format('%L is not an executor', p_consumer ->> 'executor'),
      detail = json_build_object('executor', p_consumer ->> 'executor')::text;
  end;
  perform iu_core.fn_require_workspace(c.workspace_id);
  if not exists (select from iu_core.event_vocabulary v
                  where v.event_domain = c.event_domain and v.event_type = c.event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('%s.%s is not in the event vocabulary', c.event_domain, c.event_type),
      detail = json_build_object('event', concat_ws('.', c.event_domain, c.event_type))::text;
  end if;
  begin
    -- Made here rather than with its first job: that may stand in a long transaction, and all of the kind would wait for it.
    insert into iu_core.job_kind (job_kind) values (c.job_kind) on conflict do nothing;
    insert into iu_core.consumer_registry as r (
      consumer_id, event_domain, event_type, event_stream, workspace_id, job_kind, executor, idempotency_key_template,
      payload_ref_template, fail_closed, priority, max_depth, rate, rate_period, notes, registered_by, registered_via)
    values (
      c.consumer_id, c.event_domain, c.event_type, c.event_stream, c.workspace_id, c.job_kind, coalesce(c.executor, 'PG_worker'),
      c.idempotency_key_template, c.payload_ref_template, coalesce(c.fail_closed, true), coalesce(c.priority, 0::smallint),
      coalesce(c.max_depth, 8::smallint), c.rate, c.rate_period, c.notes, v_actor.actor, v_actor.via)
    on conflict (consumer_id) do update set
      event_domain = excluded.event_domain, event_type = excluded.event_type, event_stream = excluded.event_stream,
      workspace_id = excluded.workspace_id, job_kind = excluded.job_kind, executor = excluded.executor,
      idempotency_key_template = excluded.idempotency_key_template, payload_ref_template = excluded.payload_ref_template,
      fail_closed = excluded.fail_closed, priority = excluded.priority, max_depth = excluded.max_depth, rate = excluded.rate,
      rate_period = excluded.rate_period, notes = excluded.notes, registered_by = excluded.registered_by,
      registered_via = excluded.registered_via
    where row(r.event_domain, r.event_type, r.event_stream, r.workspace_id, r.job_kind, r.executor, r.idempotency_key_template,
              r.payload_ref_template, r.fail_closed, r.priority, r.max_depth, r.rate, r.rate_period, r.notes)
          is distinct from
          row(excluded.event_domain, excluded.event_type, excluded.event_stream, excluded.workspace_id, excluded.job_kind,
              excluded.executor, excluded.idempotency_key_template, excluded.payload_ref_template, excluded.fail_closed,
              excluded.priority, excluded.max_depth, excluded.rate, excluded.rate_period, excluded.notes);
  exception when check_violation then
    raise exception using errcode = 'SD001', message = 'A consumer cannot be so: ' || sqlerrm;
  end;
  return iu_core.fn_consumer_require(c.consumer_id);
end $$;
