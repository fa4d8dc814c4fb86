-- Registers what is staged for a new entity, or changes it; what is not named stays. The object's keys are the columns' names.
-- What the staging zone would refuse is refused now, not when the first entity is born.
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
    raise exception using errcode = 'SD001', message = 'A template is given as a JSON object';
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
    when t.purpose is null or t.purpose !~ '\S' then 'it needs a purpose: a few words for whoever decides'
    when jsonb_typeof(t.parts) is distinct from 'array' then 'its parts are an array'
    when t.parts @> '[{"payload_kind": "blob_ref"}]' then 'a part of a template is json or text'
    when jsonb_path_exists(t.parts, 'strict $.** ? (@.type() == "object").keyvalue() ? (@.key like_regex "[{]")')
      then 'fields stand in values, not in keys' end;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = 'The template cannot be used: ' || v_problem;
  end if;
  perform iu_core.fn_require_workspace(t.workspace_id);
  if iu_core.fn_iu_auto_instantiate_fill(to_jsonb(t.purpose), null::iu_core.event_outbox) #>> '{}' !~ '\S' then
    raise exception using errcode = 'SD001', message = 'The template cannot be used: an event may lack the fields that its purpose is made of';
  end if;
  v_parts := array(select jsonb_array_elements(iu_core.fn_iu_auto_instantiate_fill(t.parts, null::iu_core.event_outbox)));
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
