-- Writes one event in the caller's transaction. A cause hands on its correlation, one step deeper; in the transaction of a
-- job's handler that is the event the job came from.
create or replace function iu_core.fn_event_emit(
  p_event_domain text,
  p_event_type text,
  p_event_stream text default null,
  p_event_subject_ref text default null,
  p_canonical_address text default null,
  p_workspace_id uuid default null,
  p_safe_payload jsonb default '{}',
  p_correlation_id uuid default null,
  p_causation_event_id uuid default null,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := iu_core.fn_time_uuid();
  v_actor record;
  v_correlation_id uuid;
  v_depth smallint := 0;
  v_cause uuid := p_causation_event_id;
begin
  if not exists (select from iu_core.event_vocabulary
                  where event_domain = p_event_domain and event_type = p_event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('%s.%s is not in the event vocabulary', p_event_domain, p_event_type),
      detail = json_build_object('event', concat_ws('.', p_event_domain, p_event_type))::text;
  end if;
  perform iu_core.fn_event_payload_check(coalesce(p_safe_payload, '{}'));
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  if v_cause is null then
    select c.event_id, c.correlation_id, coalesce(c.depth + 1, 0) into v_cause, v_correlation_id, v_depth
      from iu_core.fn_event_cause() c;
  else
    select correlation_id, causation_depth + 1 into v_correlation_id, v_depth
      from iu_core.event_outbox where id = p_causation_event_id;
    if not found then
      raise exception using
        errcode = 'SD001',
        message = format('There is no event %s that this one could follow from', p_causation_event_id);
    end if;
  end if;
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
    correlation_id, causation_event_id, causation_depth, actor, actor_via, safe_payload)
  values (
    v_id, p_event_domain, p_event_type, p_event_stream, p_event_subject_ref, p_canonical_address, p_workspace_id,
    coalesce(p_correlation_id, v_correlation_id, v_id), v_cause, v_depth,
    v_actor.actor, v_actor.via, coalesce(p_safe_payload, '{}'));
  return v_id;
end $$;

grant execute on function iu_core.fn_event_emit(text, text, text, text, text, uuid, jsonb, uuid, uuid, text)
  to dot_executor, service_role, stagedoor_producer;
