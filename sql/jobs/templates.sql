-- Templates: records that are staged when an event reports a new entity.

-- Registers or changes a template of what is staged for a new entity; fields that are not given stay. The keys of the object
-- are column names. What the staging zone would refuse is refused now, not with the first entity.
create or replace function iu_core.fn_iu_auto_instantiate_template_set(
  p_template_code text, p_template jsonb, p_actor text default null
) returns iu_core.iu_auto_instantiate_template
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_problem text;
  t iu_core.iu_auto_instantiate_template;
  v_parts jsonb[];
begin
  if jsonb_typeof(p_template) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'A template must be a JSON object';
  end if;
  select string_agg(k, ', ') into v_problem from jsonb_object_keys(p_template) k
   where k not in ('workspace_id', 'event_stream', 'staging_kind', 'payload_type', 'purpose', 'parts', 'enabled');
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'A template has no field called ' || v_problem;
  end if;
  v_actor := iu_core.fn_actor_for(p_actor);
  select * into t from iu_core.iu_auto_instantiate_template where template_code = p_template_code for update;
  t := jsonb_populate_record(t, p_template);
  v_problem := case
    when p_template_code is null or p_template_code !~ '^[a-z][a-z0-9_.-]{0,62}$' then 'its name has lowercase letters, digits and _.-, at most 63'
    when t.purpose is null or t.purpose !~ '\S' then 'it needs a purpose: a few words for the reviewer'
    when jsonb_typeof(t.parts) is distinct from 'array' then 'its parts are an array'
    when t.parts @> '[{"payload_kind": "blob_ref"}]' then 'a part of a template is json or text'
    when jsonb_path_exists(t.parts, 'strict $.** ? (@.type() == "object").keyvalue() ? (@.key like_regex "[{]")')
      then 'fields are allowed in values, not in keys' end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'The template cannot be used: ' || v_problem;
  end if;
  perform iu_core.fn_require_workspace(t.workspace_id);
  if iu_core.fn_iu_auto_instantiate_render(to_jsonb(t.purpose), null::iu_core.event_outbox) #>> '{}' !~ '\S' then
    raise exception using errcode = 'SD001', message = 'The template cannot be used: an event may lack the fields that its purpose uses';
  end if;
  v_parts := array(select jsonb_array_elements(iu_core.fn_iu_auto_instantiate_render(t.parts, null::iu_core.event_outbox)));
  perform iu_core.fn_iu_staging_part_digests(v_parts);
  perform iu_core.fn_iu_staging_checklist_check(v_parts, (iu_core.fn_iu_staging_policy(t.staging_kind, t.payload_type)).checklist_required);
  insert into iu_core.iu_auto_instantiate_template as o (
    template_code, workspace_id, event_stream, staging_kind, payload_type, purpose, parts, enabled, registered_by, registered_via)
  values (p_template_code, t.workspace_id, t.event_stream, t.staging_kind, t.payload_type, t.purpose, t.parts,
          coalesce(t.enabled, true), v_actor.actor, v_actor.via)
  on conflict (template_code) do update
     set workspace_id = excluded.workspace_id, event_stream = excluded.event_stream, staging_kind = excluded.staging_kind,
         payload_type = excluded.payload_type, purpose = excluded.purpose, parts = excluded.parts, enabled = excluded.enabled,
         registered_by = excluded.registered_by, registered_via = excluded.registered_via, registered_at = now()
  returning * into t;
  return t;
end $$;

grant execute on function iu_core.fn_iu_auto_instantiate_template_set(text, jsonb, text) to service_role;

-- Fills the {fields} of a template's JSON from an event, in one pass, so that a value that looks like a field stays as it is. A
-- field without a value becomes an empty text. An unknown field is refused. Braces of JSON itself are never matched: after one
-- comes a quotation mark or another brace. Internal.
create or replace function iu_core.fn_iu_auto_instantiate_render(p_template jsonb, e iu_core.event_outbox) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant jsonb := jsonb_build_object(
    'event_id', e.id, 'event_domain', e.event_domain, 'event_type', e.event_type, 'event_stream', e.event_stream,
    'event_subject_ref', e.event_subject_ref, 'canonical_address', e.canonical_address, 'workspace_id', e.workspace_id,
    'correlation_id', e.correlation_id, 'causation_event_id', e.causation_event_id, 'actor', e.actor);
  v_filled text;
  v_unknown text;
begin
  select string_agg(case when m.token !~ '^\{\w+\}$' then m.token
                         -- As JSON writes it, without the marks around it.
                         else substr(w.json, 2, length(w.json) - 2) end, '' order by t.position),
         string_agg(distinct m.token, ', ') filter (where m.token ~ '^\{\w+\}$' and not v_fields ? btrim(m.token, '{}'))
    into v_filled, v_unknown
    from regexp_matches(p_template::text, '\{\w+\}|[^{]+|\{', 'g') with ordinality as t (match, position),
         lateral (select match[1]) as m (token),
         lateral (select to_json(coalesce(v_fields ->> btrim(m.token, '{}'), ''))::text) as w (json);
  if v_unknown is not null then
    raise exception using
      errcode = 'SD001',
      message = format('The template has %s, which is not a field', v_unknown),
      hint = 'Fields are {' || (select string_agg(f, '}, {' order by f) from jsonb_object_keys(v_fields) f) || '}.';
  end if;
  return v_filled::jsonb;
end $$;

-- Deletes a template; records staged from it stay. Returns whether it existed.
create or replace function iu_core.fn_iu_auto_instantiate_template_delete(p_template_code text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.iu_auto_instantiate_template where template_code = p_template_code;
  return found;
end $$;

grant execute on function iu_core.fn_iu_auto_instantiate_template_delete(text) to service_role;

-- Stages what the templates prescribe for a new entity (event birth_registry.entity_born), in its workspace, for review like
-- other records. Once for each event and template, however often it runs.
create or replace function iu_core.fn_iu_auto_instantiate_from_event(p_event_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  e iu_core.event_outbox;
  t iu_core.iu_auto_instantiate_template;
  v_record uuid;
  v_records uuid[] := '{}';
  v_already integer := 0;
begin
  select * into e from iu_core.event_outbox where id = p_event_id;
  if not found or (e.event_domain, e.event_type) <> ('birth_registry', 'entity_born') then
    raise exception using errcode = 'SD001', message = format('%s is not an event of the type birth_registry.entity_born', coalesce(p_event_id::text, 'NULL'));
  end if;
  -- Two runs of one event go one after the other.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.auto_instantiate ' || p_event_id, 0));
  for t in
    select * from iu_core.iu_auto_instantiate_template
     where enabled and (event_stream is null or event_stream = e.event_stream) and (workspace_id is null or workspace_id = e.workspace_id)
     order by template_code
  loop
    if exists (select from iu_core.iu_auto_instantiate_event_log l where l.event_id = e.id and l.template_code = t.template_code) then
      v_already := v_already + 1;
      continue;
    end if;
    select c.staging_record_id into v_record from iu_core.fn_iu_staging_create(
      t.staging_kind, t.payload_type, iu_core.fn_iu_auto_instantiate_render(to_jsonb(t.purpose), e) #>> '{}',
      p_new => true, p_parts => array(select jsonb_array_elements(iu_core.fn_iu_auto_instantiate_render(t.parts, e))),
      p_workspace_id => e.workspace_id, p_source_kind => 'system', p_source_ref => 'event ' || e.id) c;
    insert into iu_core.iu_auto_instantiate_event_log (event_id, template_code, staging_record_id) values (e.id, t.template_code, v_record);
    v_records := v_records || v_record;
  end loop;
  return jsonb_build_object('staging_record_ids', to_jsonb(v_records), 'already', v_already);
end $$;

grant execute on function iu_core.fn_iu_auto_instantiate_from_event(uuid) to dot_executor, service_role;
