-- An entity was born: stages what the templates prescribe for it, in its workspace, for review like everything else that is
-- staged. Once for each event and template, however often it runs.
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
    raise exception using errcode = 'SD001', message = format('%s is not an event of the birth of an entity', coalesce(p_event_id::text, 'NULL'));
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
      t.staging_kind, t.payload_type, iu_core.fn_iu_auto_instantiate_fill(to_jsonb(t.purpose), e) #>> '{}',
      p_new => true, p_parts => array(select jsonb_array_elements(iu_core.fn_iu_auto_instantiate_fill(t.parts, e))),
      p_workspace_id => e.workspace_id, p_source_kind => 'system', p_source_ref => 'event ' || e.id) c;
    insert into iu_core.iu_auto_instantiate_event_log (event_id, template_code, staging_record_id) values (e.id, t.template_code, v_record);
    v_records := v_records || v_record;
  end loop;
  return jsonb_build_object('staging_record_ids', to_jsonb(v_records), 'already', v_already);
end $$;

grant execute on function iu_core.fn_iu_auto_instantiate_from_event(uuid) to dot_executor, service_role;
