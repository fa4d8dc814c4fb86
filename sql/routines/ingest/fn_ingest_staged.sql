-- The reader has written every line (in this transaction): reading → staged. Rules over the whole upload run now, or with
-- the plan, where it follows at once and finds the same on typed columns for less.
create or replace function iu_core.fn_ingest_staged(p_upload_id uuid, p_token uuid, p_reading jsonb, p_notes jsonb, p_check boolean default true)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_unknown text;
begin
  u := iu_core.fn_ingest_held(p_upload_id, p_token);
  select * into v_dataset from iu_core.ingest_dataset where dataset = u.dataset for share;
  if p_reading -> 'layout' ->> 'leaf' is null or jsonb_typeof(p_reading -> 'layout' -> 'fields') is distinct from 'array'
     or jsonb_typeof(p_reading -> 'layout' -> 'row_types') is distinct from 'array' or p_reading ->> 'lines' is null then
    raise exception using errcode = 'SD001',
      message = 'The reading must say the number of lines, and in layout the fields, the row types and the leaf';
  end if;
  -- Whoever stages rows by plain SQL read no file; what people are shown of one has to be something all the same.
  p_reading := jsonb_build_object(
    'format', 'rows', 'definition_digest', v_dataset.definition_digest, 'encoding', '', 'delimiter', null, 'headers', '[]'::jsonb, 'preamble', '[]'::jsonb, 'header_line', 0,
    'styles', '{"decimal": "dot", "dates": "unknown"}'::jsonb, 'period', null, 'values', '{}'::jsonb,
    'map', jsonb_build_object('headers', '[]'::jsonb, 'fields', '{}'::jsonb, 'unknown', '[]'::jsonb, 'missing', '[]'::jsonb,
                              'rowTypes', p_reading -> 'layout' -> 'row_types', 'leaf', p_reading -> 'layout' -> 'leaf', 'notes', '[]'::jsonb))
    || p_reading;
  u.reading := p_reading;
  perform iu_core.fn_ingest_as_read(u);
  -- From one row type to the next by the index, not over all rows.
  with recursive types (row_type) as (
    (select row_type from public.staging_rows where upload_id = p_upload_id order by row_type limit 1)
    union all
    select (select s.row_type from public.staging_rows s where s.upload_id = p_upload_id and s.row_type > t.row_type
             order by s.row_type limit 1) from types t where t.row_type is not null
  )
  select t.row_type into v_unknown from types t
   where t.row_type is not null
     and not exists (select from iu_core.ingest_row_type k where k.platform = u.platform and k.row_type = t.row_type) limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'SD604', message = format('No dataset has registered %s rows of %s', u.platform, v_unknown),
      detail = json_build_object('dataset', u.dataset, 'platform', v_unknown)::text;
  end if;
  if p_check then
    perform iu_core.fn_ingest_check_set(u, v_dataset.definition);
  else
    perform iu_core.fn_ingest_check_sums(u, v_dataset.definition);
  end if;
  update iu_core.ingest_upload
     set reading = p_reading, notes = coalesce(p_notes, '[]'),
         changed_by = array(select distinct unnest(changed_by || iu_core.fn_ingest_mapping_authors(u, p_reading))),
         -- The plan that follows at once counts on typed columns for less.
         control = case when p_check then iu_core.fn_ingest_control(u, v_dataset.definition, false) else '[]' end
   where upload_id = p_upload_id;
  perform iu_core.fn_ingest_recount(p_upload_id, p_reading -> 'layout' ->> 'leaf', (p_reading ->> 'lines')::integer);
  update iu_core.ingest_upload
     set status = 'staged', staged_at = clock_timestamp(),
         read_ms = extract(epoch from clock_timestamp() - created_at) * 1000, reader_token = null, reader_seen_at = null, progress = null
   where upload_id = p_upload_id returning * into u;
  perform iu_core.fn_event_emit('staging', 'ingestion_staged',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
      'lines', u.line_count, 'valid', u.valid_count, 'invalid', u.invalid_count, 'skipped', u.skipped_count,
      'left_out', u.left_out));
end $$;

grant execute on function iu_core.fn_ingest_staged(uuid, uuid, jsonb, jsonb, boolean) to service_role;
