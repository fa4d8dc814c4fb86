-- Remembers what headers and values mean for the next files of a workspace. Header → field or null (leave it out);
-- field → {value in the file → value to take}.
create or replace function iu_core.fn_ingest_mapping_set(
  p_workspace_id uuid, p_dataset text, p_platform text, p_headers jsonb, p_field_values jsonb default '{}'
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb;
  v_unknown text;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  select definition into v_definition from iu_core.ingest_dataset where dataset = p_dataset;
  if v_definition is null or not v_definition -> 'platforms' ? p_platform then
    raise exception using errcode = 'SD604', message = format('There is no dataset %L with a platform %L', p_dataset, p_platform),
      detail = json_build_object('dataset', p_dataset, 'platform', p_platform)::text;
  end if;
  select string_agg(f, ', ') into v_unknown
    from (select value #>> '{}' as f from jsonb_each(coalesce(p_headers, '{}')) where value <> 'null'
          union select k from jsonb_object_keys(coalesce(p_field_values, '{}')) k) s
   where not v_definition -> 'fields' ? f;
  if v_unknown is not null then
    raise exception using errcode = 'SD001', message = format('The dataset %s has no field %s; it has %s', p_dataset, v_unknown,
        (select string_agg(k, ', ' order by k) from jsonb_object_keys(v_definition -> 'fields') k));
  end if;
  insert into iu_core.ingest_mapping as m (workspace_id, dataset, platform, headers, field_values, updated_by, header_by, value_by)
  values (p_workspace_id, p_dataset, p_platform, coalesce(p_headers, '{}'), coalesce(p_field_values, '{}'), iu_core.fn_actor(),
          iu_core.fn_ingest_mapping_by('{}', '{}', p_headers), iu_core.fn_ingest_mapping_by('{}', '{}', p_field_values))
  on conflict (workspace_id, dataset, platform) do update
     set headers = excluded.headers, field_values = excluded.field_values, updated_by = excluded.updated_by,
         header_by = iu_core.fn_ingest_mapping_by(m.header_by, m.headers, excluded.headers),
         value_by = iu_core.fn_ingest_mapping_by(m.value_by, m.field_values, excluded.field_values),
         updated_at = clock_timestamp();
end $$;

grant execute on function iu_core.fn_ingest_mapping_set(uuid, text, text, jsonb, jsonb)
  to service_role, authenticated, stagedoor_reviewer;
