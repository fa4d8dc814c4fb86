-- Consumers: events become jobs. Registration, dry run, review, activation.

-- Registers a consumer, disabled, or changes one. The keys of the object are column names. Administrators only: nobody but the
-- owner may execute it. Registering the same definition again changes nothing. Another match, template, kind or executor
-- disables the consumer and clears its review.
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
    -- Created here rather than with its first job: that may be in a long transaction, and all jobs of the kind would wait for it.
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
    raise exception using errcode = 'SD001', message = 'The consumer is invalid: ' || sqlerrm;
  end;
  return iu_core.fn_consumer_require(c.consumer_id);
end $$;

-- Starts the dry run of a consumer: its events leave evidence of the jobs that they would create. Administrators only.
create or replace function iu_core.fn_consumer_dry_run(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  update iu_core.consumer_registry set enabled = true, dry_run = true
   where consumer_id = p_consumer_id and not (enabled and dry_run);
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;

-- The jobs that a consumer in dry run would have created, newest first, for the events that the caller may see.
create or replace function iu_core.fn_consumer_evidence(p_consumer_id text, p_limit integer default 100)
returns table (event_id uuid, idempotency_key text, payload_ref text, problem text, dispatched_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select l.event_id, l.detail ->> 'idempotency_key', l.detail ->> 'payload_ref', l.detail ->> 'problem', l.dispatched_at
    from iu_core.event_dispatch_log l
    join iu_core.consumer_registry c on c.consumer_id = l.consumer_id
   where l.consumer_id = p_consumer_id and l.outcome = 'dry_run' and l.dispatched_at >= c.registered_at
   order by l.dispatched_at desc, l.event_id desc limit p_limit
$$;

grant execute on function iu_core.fn_consumer_evidence(text, integer) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Records that a person other than the registrant reviewed the evidence of the dry run. p_evidence: how many of its lines they
-- saw, at least one. More lines than exist means that they saw another definition, whose evidence was deleted with it.
create or replace function iu_core.fn_consumer_review(p_consumer_id text, p_evidence integer, p_actor text default null)
returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
  v_actor record;
  v_evidence bigint;
begin
  perform iu_core.require_member(iu_core.fn_consumer_workspace(p_consumer_id), 'review');
  if p_evidence is null or p_evidence < 1 then
    raise exception using errcode = 'SD001', message = 'p_evidence must be the number of evidence lines that you saw, at least 1';
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  -- Under its lock, so that a concurrent change of the definition is seen.
  select * into c from iu_core.consumer_registry where consumer_id = p_consumer_id for no key update;
  if v_actor.actor = c.registered_by or v_actor.via = c.registered_by or v_actor.actor = c.registered_via then
    raise exception using
      errcode = 'SD324',
      message = format('%s registered the consumer %s, so another person must review it', c.registered_by, p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id, 'actor', c.registered_by)::text;
  end if;
  select count(*) into v_evidence from iu_core.event_dispatch_log
   where consumer_id = p_consumer_id and outcome = 'dry_run' and dispatched_at >= c.registered_at;
  if not (c.enabled and c.dry_run) or p_evidence > v_evidence then
    raise exception using
      errcode = 'SD323',
      message = case when c.enabled and c.dry_run
                     then format('The consumer %s has only %s of the %s evidence lines that you saw', p_consumer_id, v_evidence, p_evidence)
                     else format('The consumer %s is %s: a consumer is reviewed during its dry run', p_consumer_id, iu_core.fn_consumer_state(c)) end,
      detail = json_build_object('consumer', p_consumer_id, 'state', iu_core.fn_consumer_state(c),
                                 'evidence', v_evidence, 'seen', p_evidence)::text;
  end if;
  update iu_core.consumer_registry
     set reviewed_by = v_actor.actor, reviewed_via = v_actor.via, reviewed_at = clock_timestamp()
   where consumer_id = p_consumer_id;
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;

grant execute on function iu_core.fn_consumer_review(text, integer, text) to stagedoor_reviewer, service_role;

-- Activates a consumer: its events become jobs. Administrators only, and only after a review by another person.
create or replace function iu_core.fn_consumer_activate(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry := iu_core.fn_consumer_require(p_consumer_id);
begin
  if c.reviewed_by is null then
    raise exception using
      errcode = 'SD322',
      message = format('The consumer %s has not been reviewed', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  update iu_core.consumer_registry set enabled = true, dry_run = false
   where consumer_id = p_consumer_id and (not enabled or dry_run);
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;

-- Disables a consumer; its review stays, and so do the jobs that it created. Administrators only.
create or replace function iu_core.fn_consumer_disable(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  update iu_core.consumer_registry set enabled = false, dry_run = true where consumer_id = p_consumer_id and enabled;
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;

-- Deletes a consumer. Its lines in the dispatch log and its jobs stay; its deferred events are not dispatched. Administrators
-- only.
create or replace function iu_core.fn_consumer_delete(p_consumer_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_consumer_require(p_consumer_id);
  delete from iu_core.consumer_registry where consumer_id = p_consumer_id;
end $$;

-- Rules for every change of a consumer, also by hand: its templates compile; a change of what it matches or creates clears its
-- review; nobody reviews in another's name; and it begins with the events after its activation.
create or replace function iu_core.fn_consumer_registry_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
  v_new boolean := tg_op = 'INSERT';
begin
  if v_new or row(new.idempotency_key_template, new.payload_ref_template)
              is distinct from row(old.idempotency_key_template, old.payload_ref_template) then
    perform iu_core.fn_consumer_template_sql(new.idempotency_key_template, true);
    if new.payload_ref_template is not null then
      perform iu_core.fn_consumer_template_sql(new.payload_ref_template, false);
    end if;
  end if;
  if v_new or row(new.consumer_id, new.event_domain, new.event_type, new.event_stream, new.workspace_id, new.job_kind,
                  new.executor, new.idempotency_key_template, new.payload_ref_template)
              is distinct from
              row(old.consumer_id, old.event_domain, old.event_type, old.event_stream, old.workspace_id, old.job_kind,
                  old.executor, old.idempotency_key_template, old.payload_ref_template) then
    if new.registered_via = v_actor then
      -- Only a service may name another actor.
      perform iu_core.fn_actor_for(new.registered_by);
    else
      new.registered_by := v_actor;
      new.registered_via := null;
    end if;
    new.registered_at := clock_timestamp();
    new.enabled := false;
    new.dry_run := true;
    new.reviewed_by := null;
    new.reviewed_via := null;
    new.reviewed_at := null;
    if not v_new then
      perform iu_core.fn_consumer_abandon_deferred(old.consumer_id, 'the consumer was changed');
    end if;
  else
    new.registered_by := old.registered_by;
    new.registered_via := old.registered_via;
    new.registered_at := old.registered_at;
    if new.reviewed_by is not null and row(new.reviewed_by, new.reviewed_via) is distinct from row(old.reviewed_by, old.reviewed_via)
       and new.reviewed_via is distinct from (select a.via from iu_core.fn_actor_for(new.reviewed_by) a) then
      raise exception using
        errcode = 'SD203',
        message = format('%s cannot act as %L', v_actor, new.reviewed_by),
        detail = json_build_object('actor', v_actor, 'named', new.reviewed_by)::text;
    end if;
  end if;
  if not new.enabled then
    new.active_from := null;
    new.activated_at := null;
  elsif not old.enabled or old.dry_run <> new.dry_run then
    -- The dispatcher holds its reader's row while it works. Waiting for it here and changing it, so that a dispatcher
    -- under an older snapshot fails instead, no event that belongs to this consumer by this snapshot is skipped.
    perform iu_core.fn_event_reader_register('consumers');
    update iu_core.event_reader set reader = reader where reader = 'consumers';
    new.active_from := iu_core.fn_event_reading_snapshot();
    new.activated_at := clock_timestamp();
  end if;
  return new;
end $$;

create or replace trigger consumer_registry_is_guarded
  before insert or update on iu_core.consumer_registry
  for each row execute function iu_core.fn_consumer_registry_guard();

-- Emits an event for every change of a consumer, also by hand. Deletes or ends what belongs to a deleted consumer.
create or replace function iu_core.fn_consumer_registry_emit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry := coalesce(new, old);
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'active_from' = to_jsonb(old) - 'active_from' then
    return null;
  end if;
  if tg_op = 'DELETE' then
    perform iu_core.fn_consumer_abandon_deferred(old.consumer_id, 'the consumer was deleted');
    delete from iu_core.consumer_rate where consumer_id = old.consumer_id;
  end if;
  perform iu_core.fn_event_emit(
    'governance', 'consumer_changed',
    p_event_subject_ref => c.consumer_id,
    p_canonical_address => 'stagedoor://consumers/' || c.consumer_id,
    p_workspace_id => c.workspace_id,
    p_safe_payload => jsonb_build_object(
      'consumer_id', c.consumer_id,
      'state', case when tg_op = 'DELETE' then 'removed' else iu_core.fn_consumer_state(c) end));
  return null;
end $$;

create or replace trigger consumer_registry_emits
  after insert or update or delete on iu_core.consumer_registry
  for each row execute function iu_core.fn_consumer_registry_emit();

-- disabled, dry_run, reviewed (a dry run that was reviewed) or active.
create or replace function iu_core.fn_consumer_state(p_consumer iu_core.consumer_registry) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when not p_consumer.enabled then 'disabled'
    when not p_consumer.dry_run then 'active'
    when p_consumer.reviewed_by is not null then 'reviewed'
    else 'dry_run'
  end
$$;

grant execute on function iu_core.fn_consumer_state(iu_core.consumer_registry) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Abandons the deferred events of a consumer that was changed or deleted, so that they hold no partition. A backfill can
-- dispatch those that still match. Internal.
create or replace function iu_core.fn_consumer_abandon_deferred(p_consumer_id text, p_problem text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update iu_core.event_dispatch_log set outcome = 'failed', detail = jsonb_build_object('problem', p_problem)
   where consumer_id = p_consumer_id and outcome = 'deferred'
$$;

-- The consumer. Raises if there is none. Internal.
create or replace function iu_core.fn_consumer_require(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
begin
  select * into c from iu_core.consumer_registry where consumer_id = p_consumer_id;
  if not found then
    raise exception using
      errcode = 'SD320',
      message = format('There is no consumer called %L', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  return c;
end $$;

-- The workspace of a consumer that the caller may see; another workspace's consumer gives the same error as a missing one.
-- Everybody may see a consumer without a workspace. Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_consumer_workspace(p_consumer_id text) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select workspace_id into v_workspace from iu_core.consumer_registry where consumer_id = p_consumer_id;
  if not found or v_workspace is not null
     and not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD320',
      message = format('There is no consumer called %L', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  return v_workspace;
end $$;

-- Compiles a template into an SQL expression over the event e: its text quoted, its {fields} as columns. There is no eval, no
-- path into a payload and no format string: anything but the ten fields is refused. A NULL column makes the whole expression
-- NULL, which dispatch reports as an error. p_distinct: the template must differ between events. Internal.
create or replace function iu_core.fn_consumer_template_sql(p_template text, p_distinct boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_fields constant jsonb := '{
    "event_id": "e.id::text", "event_domain": "e.event_domain", "event_type": "e.event_type",
    "event_stream": "e.event_stream", "event_subject_ref": "e.event_subject_ref",
    "canonical_address": "e.canonical_address", "workspace_id": "e.workspace_id::text",
    "correlation_id": "e.correlation_id::text", "causation_event_id": "e.causation_event_id::text", "actor": "e.actor"}';
  v_unknown text[];
  v_reason text;
  v_sql text;
begin
  select string_agg(case when token ~ '^\{.+\}$' then c_fields ->> btrim(token, '{}') else quote_literal(token) end, ' || '
                    order by position),
         array_agg(distinct token) filter (where token ~ '[{}]' and not c_fields ? btrim(token, '{}'))
    into v_sql, v_unknown
    from regexp_matches(p_template, '\{[^{}]*\}|[{}]|[^{}]+', 'g') with ordinality as t (match, position),
         lateral (select match[1]) as m (token);
  if coalesce(p_template, '') = '' then
    v_reason := 'it is empty';
  elsif p_distinct and p_template !~ '\{.+\}' then
    v_reason := 'it has no field, so every event would be the same';
  end if;
  if v_unknown is not null then
    v_reason := format('it has %s, which is not a field', array_to_string(v_unknown, ', '));
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD321',
      message = format('The template %L cannot be used: %s', p_template, v_reason),
      hint = 'Fields are {' || (select string_agg(f, '}, {' order by f) from jsonb_object_keys(c_fields) f) || '}.',
      detail = json_build_object('template', p_template, 'reason', v_reason,
                                 'fields', (select json_agg(f order by f) from jsonb_object_keys(c_fields) f))::text;
  end if;
  return v_sql;
end $$;

-- The consumers whose events become jobs.
create or replace view iu_core.v_consumer_registry_active with (security_invoker = true) as
select * from iu_core.consumer_registry where enabled = true and dry_run = false;

grant select on iu_core.v_consumer_registry_active to authenticated, stagedoor_reviewer, service_role, dot_executor;
