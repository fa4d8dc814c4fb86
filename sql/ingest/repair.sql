-- Repair of single lines.

-- Stores lines that people corrected and that were checked again by the same rules as the file: an array of {"row_number",
-- "raw_payload", "normalized_payload", "validation_status", "validation_errors", "validation_warnings"}. Without payloads a
-- line keeps its content and only its verdict changes: this is how a line is left out. For the back end, which checks the lines
-- and names the person who corrected them.
--
-- Deletes the plan, unless p_replan asks for a new one: then the plan is brought up to date for these lines in the same
-- transaction (replanned: lines). Where that is not possible, the plan is deleted and the caller makes it again (replanned:
-- whole, with the reason). replanned is NULL if there was no plan or none was asked for.
create or replace function iu_core.fn_ingest_repair(
  p_upload_id uuid, p_rows jsonb, p_repaired_by text, p_replan boolean default false,
  out lines integer, out replanned text, out reason text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
-- As in fn_ingest_plan: the texts of a plan are written in one way.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_repaired_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['staged', 'planned'], 'repaired');
  v_dataset := iu_core.fn_ingest_require_same_dataset(u);
  lines := jsonb_array_length(p_rows);
  perform iu_core.fn_event_emit('staging', 'ingestion_repaired',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_repaired_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'rows', lines));
  if p_replan and u.status = 'planned' then
    begin
      perform iu_core.fn_ingest_replan_lines(u, v_dataset, p_rows, p_repaired_by);
      replanned := 'lines';
    exception
      when feature_not_supported then
        get stacked diagnostics reason = message_text;
        replanned := 'whole';
      -- The whole plan works out which lines they are.
      when data_exception or check_violation or not_null_violation then
        reason := 'a value cannot be held by its column';
        replanned := 'whole';
    end;
  end if;
  if replanned is distinct from 'lines' then
    perform iu_core.fn_ingest_base_keep(u, v_dataset.definition, array(select r.row_number from jsonb_to_recordset(p_rows) as r (row_number integer)));
    perform iu_core.fn_ingest_plan_delete(u);
    perform iu_core.fn_ingest_repair_store(u, p_rows, v_actor.actor, v_actor.via);
    perform iu_core.fn_ingest_check_across_lines(u, v_dataset.definition);
    update iu_core.ingest_upload set status = 'staged' where upload_id = p_upload_id;
    perform iu_core.fn_ingest_recount(p_upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
    update iu_core.ingest_upload
       set control = iu_core.fn_ingest_control_totals(u, v_dataset.definition, false), own_totals = iu_core.fn_ingest_own_totals(u, v_dataset.definition)
     where upload_id = p_upload_id;
  end if;
end $$;

grant execute on function iu_core.fn_ingest_repair(uuid, jsonb, text, boolean) to service_role;

-- Overwrites the lines, after noting cell by cell from what to what, and names the actor among those who changed the upload.
-- Internal.
create or replace function iu_core.fn_ingest_repair_store(p_upload iu_core.ingest_upload, p_rows jsonb, p_actor text, p_via text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  insert into iu_core.ingest_repair (upload_id, row_number, what, column_name, old_value, new_value, repaired_by, repaired_via)
  select p_upload.upload_id, s.row_number, c.what, c.name, c.old_value, c.new_value, p_actor, p_via
    from jsonb_to_recordset(p_rows) as r (row_number integer, raw_payload jsonb, validation_status public.staging_validation_status)
    -- Line by line through the key: nothing may be known yet of these rows, and the planner would read the whole upload.
   cross join lateral (select * from iu_core.v_ingest_staged_row x
                        where x.upload_id = p_upload.upload_id and x.row_type = p_upload.reading -> 'layout' ->> 'leaf'
                          and x.row_number = r.row_number offset 0) s,
         lateral (
           select 'corrected' as what, k as name, s.raw_payload ->> k as old_value, r.raw_payload ->> k as new_value
             from (select jsonb_object_keys(s.raw_payload) union select jsonb_object_keys(r.raw_payload)) as n (k)
            where r.raw_payload is not null and s.raw_payload ->> k is distinct from r.raw_payload ->> k
           union all
           select case when r.raw_payload is null then 'left_out' else 'taken_in' end, null, null, null
            where (r.raw_payload is null and r.validation_status = 'skipped')
               or (r.raw_payload is not null and s.validation_warnings @> '[{"rule": "line.left_out"}]')) c
   order by s.row_number, c.name;
  update iu_core.ingest_staged_row s
     set raw_payload = coalesce(r.raw_payload, s.raw_payload), raw_values = case when r.raw_payload is null then s.raw_values end,
         normalized_payload = coalesce(r.normalized_payload, s.normalized_payload),
         normalized_values = case when r.normalized_payload is null then s.normalized_values end, validation_status = r.validation_status,
         validation_errors = r.validation_errors, validation_warnings = r.validation_warnings, updated_at = now()
    from (select l.place, c.*
            from jsonb_to_recordset(p_rows) as c (
                   row_number integer, raw_payload jsonb, normalized_payload jsonb, validation_status public.staging_validation_status,
                   validation_errors jsonb, validation_warnings jsonb)
           cross join lateral (select x.ctid as place from iu_core.ingest_staged_row x
                                where x.upload_id = p_upload.upload_id and x.row_type = p_upload.reading -> 'layout' ->> 'leaf'
                                  and x.row_number = c.row_number offset 0) l) r
   where s.ctid = r.place;
  get diagnostics v_count = row_count;
  if v_count <> jsonb_array_length(p_rows) then
    raise exception using errcode = 'SD001', message = 'One of these lines is not in the upload';
  end if;
  update iu_core.ingest_upload
     set error = null, staged_at = clock_timestamp(),
         changed_by = array(select distinct unnest(changed_by || array_remove(array[p_actor, p_via], null)))
   where upload_id = p_upload.upload_id;
end $$;

-- Returns the current content of lines that are about to be corrected, and locks the upload until the end of the transaction:
-- of two people who correct two cells of one line neither overwrites the other. For the back end.
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
  perform iu_core.fn_ingest_require_same_dataset(u);
  return query
    select s.row_number, s.raw_payload from iu_core.v_ingest_staged_row s
     where s.upload_id = p_upload_id and s.row_type = u.reading -> 'layout' ->> 'leaf' and s.row_number = any (p_lines)
     order by s.row_number;
end $$;

grant execute on function iu_core.fn_ingest_repair_lines(uuid, integer[]) to service_role;
