-- The event outbox: emitting one event, a batch, or prepared rows.

-- Writes one event in the caller's transaction. An event inherits the correlation of its cause and is one step deeper; in the
-- transaction of a job handler, the cause is the event of that job.
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
        message = format('There is no event %s to be the cause of this one', p_causation_event_id);
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

-- Writes many events in one statement, in the given order. The keys of the objects are column names.
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
      message = format('There is no event %s to be the cause of this one', v_unknown);
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

-- Writes the row that fn_event_emit would write, for functions with fixed events: they have checked the actor and the gate,
-- their types are in the vocabulary, and their payload has only known keys. Internal.
create or replace function iu_core.fn_event_write(
  p_event_domain text,
  p_event_type text,
  p_event_subject_ref text,
  p_workspace_id uuid,
  p_actor text,
  p_via text,
  p_safe_payload jsonb,
  p_canonical_address text default null,
  p_event_stream text default null
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := iu_core.fn_time_uuid();
  v_cause record := iu_core.fn_event_cause();
begin
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_stream, event_subject_ref, canonical_address, workspace_id, correlation_id,
    causation_event_id, causation_depth, actor, actor_via, safe_payload)
  values (
    v_id, p_event_domain, p_event_type, p_event_stream, p_event_subject_ref, p_canonical_address, p_workspace_id,
    coalesce(v_cause.correlation_id, v_id), v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, p_via, p_safe_payload);
  return v_id;
end $$;

-- The event that the running job came from, as the worker sets it in the transaction of a handler: events and jobs written
-- there follow from it. Anybody can set this setting, so it decides nothing but the trace and its depth. An id that is not (or
-- no longer) in the outbox is ignored.
create or replace function iu_core.fn_event_cause(out event_id uuid, out correlation_id uuid, out depth smallint, out workspace_id uuid)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cause text := nullif(current_setting('stagedoor.cause', true), '');
begin
  if v_cause is null or v_cause !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return;
  end if;
  select e.id, e.correlation_id, e.causation_depth, e.workspace_id into event_id, correlation_id, depth, workspace_id
    from iu_core.event_outbox e where e.id = v_cause::uuid;
end $$;

-- Raises if a payload contains more than references: the ten forbidden keys are refused at any depth, and so is a large
-- payload.
create or replace function iu_core.fn_event_payload_check(p_payload jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := iu_core.fn_payload_problem(p_payload);
begin
  if v_reason is not null then
    raise exception using
      errcode = 'SD302',
      message = 'An event carries references only, but ' || v_reason,
      detail = json_build_object('reason', v_reason)::text;
  end if;
end $$;

-- What is wrong with a payload that must contain references only, or NULL: a forbidden key at any depth, or its size.
create or replace function iu_core.fn_payload_problem(p_payload jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  if p_payload = '{}' then
    return null;
  end if;
  if jsonb_typeof(p_payload) is distinct from 'object' then
    return format('its payload is %s, not an object', coalesce(jsonb_typeof(p_payload), 'NULL'));
  end if;
  if length(p_payload::text) > 8192 then
    return format('its payload has %s characters, more than 8192', length(p_payload::text));
  end if;
  select k #>> '{}' into v_key
    from jsonb_path_query(p_payload, 'strict $.** ? (@.type() == "object").keyvalue().key') as k
   where lower(k #>> '{}') in ('body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password',
                               'ssn', 'personal_data')
   limit 1;
  return case when v_key is not null then format('its payload has the key %L', v_key) end;
end $$;
