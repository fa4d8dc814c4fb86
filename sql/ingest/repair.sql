-- Repair of single lines.

-- Takes lines that people corrected and that were checked again by the same rules as the file: an array of
-- {"row_number", "raw_payload", "normalized_payload", "validation_status", "validation_errors", "validation_warnings"}.
-- Without payloads a line stays as it is and only its verdict changes: so it is left out.
-- For the back end, which checks them; it names who corrected. The plan is gone with it.
create or replace function iu_core.fn_ingest_repair(p_upload_id uuid, p_rows jsonb, p_repaired_by text) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_actor record;
  v_count integer;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_repaired_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'repaired');
  v_dataset := iu_core.fn_ingest_as_read(u);
  perform iu_core.fn_ingest_plan_forget(u);
  -- Cell by cell from what to what, before it is overwritten.
  insert into iu_core.ingest_repair (upload_id, row_number, what, column_name, old_value, new_value, repaired_by, repaired_via)
  select p_upload_id, s.row_number, c.what, c.name, c.old_value, c.new_value, v_actor.actor, v_actor.via
    from jsonb_to_recordset(p_rows) as r (row_number integer, raw_payload jsonb, validation_status public.staging_validation_status)
    join public.staging_rows s
      on s.upload_id = p_upload_id and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.row_number = r.row_number,
         lateral (
           select 'corrected' as what, k as name, s.raw_payload ->> k as old_value, r.raw_payload ->> k as new_value
             from (select jsonb_object_keys(s.raw_payload) union select jsonb_object_keys(r.raw_payload)) as n (k)
            where r.raw_payload is not null and s.raw_payload ->> k is distinct from r.raw_payload ->> k
           union all
           select case when r.raw_payload is null then 'left_out' else 'taken_in' end, null, null, null
            where (r.raw_payload is null and r.validation_status = 'skipped')
               or (r.raw_payload is not null and s.validation_warnings @> '[{"rule": "line.left_out"}]')) c
   order by s.row_number, c.name;
  update public.staging_rows s
     set raw_payload = coalesce(r.raw_payload, s.raw_payload),
         normalized_payload = coalesce(r.normalized_payload, s.normalized_payload), validation_status = r.validation_status,
         validation_errors = r.validation_errors, validation_warnings = r.validation_warnings, updated_at = now()
    from jsonb_to_recordset(p_rows) as r (
      row_number integer, raw_payload jsonb, normalized_payload jsonb, validation_status public.staging_validation_status,
      validation_errors jsonb, validation_warnings jsonb)
   where s.upload_id = p_upload_id and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.row_number = r.row_number;
  get diagnostics v_count = row_count;
  if v_count <> jsonb_array_length(p_rows) then
    raise exception using errcode = 'SD001', message = 'One of these lines is not in the upload';
  end if;
  perform iu_core.fn_ingest_check_set(u, v_dataset.definition);
  update iu_core.ingest_upload
     set status = 'staged', error = null, staged_at = clock_timestamp(),
         changed_by = array(select distinct unnest(changed_by || array_remove(array[v_actor.actor, v_actor.via], null)))
   where upload_id = p_upload_id;
  perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
  update iu_core.ingest_upload set control = iu_core.fn_ingest_control(u, v_dataset.definition, false) where upload_id = p_upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_repaired',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_repaired_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'rows', v_count));
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_repair(uuid, jsonb, text) to service_role;

-- The lines that are about to be corrected, as they are now. Whoever asked is alone with the upload until the end of the
-- transaction: of two people who correct two cells of one line neither overwrites what the other has done. For the back end.
create or replace function iu_core.fn_ingest_repair_lines(p_upload_id uuid, p_lines integer[])
returns table (row_number integer, raw_payload jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'repaired');
  perform iu_core.fn_ingest_as_read(u);
  return query
    select s.row_number, s.raw_payload from public.staging_rows s
     where s.upload_id = p_upload_id and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.row_number = any (p_lines)
     order by s.row_number;
end $$;

grant execute on function iu_core.fn_ingest_repair_lines(uuid, integer[]) to service_role;
