-- Registers a dataset, or its next version, if its tables are as it says. For workflow_admin.
create or replace function iu_core.fn_ingest_dataset_register(
  p_definition jsonb, p_approval_required boolean default null, p_undo_window interval default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems jsonb;
begin
  if jsonb_typeof(p_definition -> 'rows') is distinct from 'array' or p_definition ->> 'name' is null then
    raise exception using errcode = 'SD001', message = 'A dataset is an object with a name and rows; define it with defineDataset';
  end if;
  select jsonb_agg(jsonb_build_object('problem', problem, 'remedy', remedy)) into v_problems
    from iu_core.fn_ingest_dataset_problems(p_definition);
  if v_problems is not null then
    raise exception using
      errcode = 'SD605',
      message = format('The dataset %s does not fit the tables: %s', p_definition ->> 'name', v_problems -> 0 ->> 'problem'),
      detail = json_build_object('dataset', p_definition ->> 'name',
        'reason', (select string_agg(p ->> 'problem', '; ') from jsonb_array_elements(v_problems) p),
        'statements', (select jsonb_agg(p ->> 'remedy') from jsonb_array_elements(v_problems) p where p ->> 'remedy' is not null))::text;
  end if;
  insert into iu_core.ingest_row_type (platform, row_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
  on conflict do nothing;
  insert into iu_core.ingest_entity_type (platform, entity_type)
  select p, spec ->> 'name' from jsonb_object_keys(p_definition -> 'platforms') p, jsonb_array_elements(p_definition -> 'rows') spec
   where spec ? 'identity'
  on conflict do nothing;
  insert into iu_core.ingest_dataset as d (dataset, title, version, definition, approval_required, undo_window, registered_by)
  values (p_definition ->> 'name', coalesce(p_definition ->> 'title', p_definition ->> 'name'), coalesce((p_definition ->> 'version')::integer, 1),
          p_definition, coalesce(p_approval_required, true), coalesce(p_undo_window, '30 days'), iu_core.fn_actor())
  on conflict (dataset) do update
     set title = excluded.title, version = excluded.version, definition = excluded.definition,
         approval_required = coalesce(p_approval_required, d.approval_required),
         undo_window = coalesce(p_undo_window, d.undo_window),
         registered_by = excluded.registered_by, registered_at = clock_timestamp();
end $$;
