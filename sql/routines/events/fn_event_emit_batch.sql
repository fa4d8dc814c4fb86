-- Writes many events in one statement, in their given order. The objects' keys are the columns' names.
create or replace function iu_core.fn_event_emit_batch(p_events jsonb) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
  v_unknown text;
begin
  if jsonb_typeof(p_events) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_event_emit_batch takes a JSON array of events';
  end if;
  select concat_ws('.', e ->> 'event_domain', e ->> 'event_type') into v_unknown
    from jsonb_array_elements(p_events) e
   where not exists (select from iu_core.event_vocabulary v
                      where v.event_domain = e ->> 'event_domain' and v.event_type = e ->> 'event_type')
   limit 1;
  if found then
    raise exception using
      errcode = 'SD301',
      message = format('%s is not in the event vocabulary', v_unknown),
      detail = json_build_object('event', v_unknown)::text;
  end if;
  select k into v_unknown
    from jsonb_array_elements(p_events) e, jsonb_object_keys(e) k
   where k not in ('event_domain', 'event_type', 'event_stream', 'event_subject_ref', 'canonical_address',
                   'workspace_id', 'safe_payload', 'correlation_id', 'causation_event_id')
   limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('An event of a batch has no field called %L', v_unknown);
  end if;
  select e ->> 'causation_event_id' into v_unknown
    from jsonb_array_elements(p_events) e
   where e ->> 'causation_event_id' is not null
     and not exists (select from iu_core.event_outbox c where c.id = (e ->> 'causation_event_id')::uuid)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD001',
      message = format('There is no event %s that this one could follow from', v_unknown);
  end if;
  perform iu_core.fn_event_payload_check(e -> 'safe_payload')
     from jsonb_array_elements(p_events) e
    where e -> 'safe_payload' is not null;
  return query
    with given as materialized (
      select iu_core.fn_time_uuid() as id, e.event_domain, e.event_type, e.event_stream, e.event_subject_ref,
             e.canonical_address, e.workspace_id, e.safe_payload, e.correlation_id,
             coalesce(e.causation_event_id, c.event_id) as causation_event_id, t.position
        from iu_core.fn_event_cause() c, jsonb_array_elements(p_events) with ordinality as t (value, position),
             lateral jsonb_to_record(t.value) as e (
         event_domain text, event_type text, event_stream text, event_subject_ref text, canonical_address text,
         workspace_id uuid, safe_payload jsonb, correlation_id uuid, causation_event_id uuid)
    ), written as (
      insert into iu_core.event_outbox (
        id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id,
        correlation_id, causation_event_id, causation_depth, actor, safe_payload)
      select g.id, g.event_domain, g.event_type, g.event_stream, g.event_subject_ref, g.canonical_address,
             g.workspace_id, coalesce(g.correlation_id, cause.correlation_id, g.id), g.causation_event_id,
             coalesce(cause.causation_depth + 1, 0), v_actor, coalesce(g.safe_payload, '{}')
        from given g
        left join iu_core.event_outbox cause on cause.id = g.causation_event_id
       order by g.position
    )
    select g.id from given g order by g.position;
end $$;

grant execute on function iu_core.fn_event_emit_batch(jsonb) to dot_executor, service_role, stagedoor_producer;
